"""tf.keras.wrappers: Keras models in the form that other libraries want."""

from __future__ import annotations

from everflow.keras.wrappers import scikit_learn as scikit_learn
