# Made by `make stubs`.

from everflow.xla import experimental as experimental
