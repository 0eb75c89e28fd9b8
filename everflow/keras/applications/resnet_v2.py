"""tf.keras.applications.resnet_v2: residual networks with the activation before the convolution."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.keras.applications.imagenet_utils import decode_predictions, preprocessing
from everflow.keras.applications.residual import ResNet50V2, ResNet101V2, ResNet152V2

preprocess_input = preprocessing("tf")
