"""tf.keras.applications.resnet: residual networks of the first kind."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.keras.applications.imagenet_utils import decode_predictions, preprocessing
from everflow.keras.applications.residual import ResNet50, ResNet101, ResNet152

preprocess_input = preprocessing("caffe")
