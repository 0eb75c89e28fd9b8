"""tf.keras.mixed_precision: everything is in `experimental`."""

# ruff: noqa: F401  The submodule is public here.

from everflow.keras.mixed_precision import experimental
