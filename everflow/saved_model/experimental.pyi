# Made by `make stubs`.

from everflow.saved_model import save as save
