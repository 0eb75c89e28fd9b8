# Made by `make stubs`.

from everflow.keras.wrappers import scikit_learn as scikit_learn
