"""slim.nets: AlexNet, VGG, OverFeat, Inception and ResNet, with the names of variables that their checkpoints have."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.contrib.slim.nets import alexnet, inception, overfeat, resnet_utils, resnet_v1, resnet_v2, vgg
