"""tf.keras.applications.resnet50: the residual network of 50 layers, under an address of its own."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.keras.applications.imagenet_utils import decode_predictions, preprocessing
from everflow.keras.applications.residual import ResNet50

preprocess_input = preprocessing("caffe")
