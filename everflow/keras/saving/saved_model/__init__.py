"""Keras models as SavedModels."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.keras.saving.saved_model.load import load as load_model
from everflow.keras.saving.saved_model.save import save as save_model
from everflow.keras.saving.saved_model.save import serving_function
