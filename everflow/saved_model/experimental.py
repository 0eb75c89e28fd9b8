"""tf.saved_model.experimental: what later versions of TensorFlow have elsewhere."""

# ruff: noqa: F401  The re-export is the purpose of this file.

from everflow.saved_model.object_saving import save
