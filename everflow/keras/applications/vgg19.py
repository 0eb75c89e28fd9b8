"""tf.keras.applications.vgg19: VGG with 19 layers that have weights."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.keras.applications.imagenet_utils import decode_predictions, preprocessing
from everflow.keras.applications.vgg import VGG19

preprocess_input = preprocessing("caffe")
