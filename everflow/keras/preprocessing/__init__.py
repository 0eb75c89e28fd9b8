"""tf.keras.preprocessing: texts, sequences and images made ready for models."""

from __future__ import annotations

from everflow.keras.preprocessing import image, sequence, text
