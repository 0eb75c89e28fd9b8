"""tf.keras.preprocessing: texts, sequences and images made ready for models."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.keras.preprocessing import image, sequence, text
