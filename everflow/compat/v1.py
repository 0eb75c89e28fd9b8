"""`import everflow.compat.v1 as tf` gives everflow itself: this is TensorFlow 1."""

import sys

import everflow

sys.modules[__name__] = everflow
