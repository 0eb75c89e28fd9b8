# Made by `make stubs`.

from everflow.keras.mixed_precision import experimental as experimental
