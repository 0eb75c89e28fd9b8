# Made by `make stubs`.
from everflow.keras.experimental import export_saved_model as _export_saved_model
from everflow.keras.experimental import load_from_saved_model as _load_from_saved_model

load_keras_model = _load_from_saved_model
save_keras_model = _export_saved_model
