"""tf.io: reading, writing and parsing files and records."""

# ruff: noqa: F401, I001

from everflow.io import gfile

# --- records

# --- parsing

# --- images
