"""tf.contrib.saved_model: Keras models as SavedModels, under the names that came first."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.keras.saving.export import export_saved_model as save_keras_model
from everflow.keras.saving.export import load_from_saved_model as load_keras_model
