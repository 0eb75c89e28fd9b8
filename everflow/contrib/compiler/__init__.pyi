# Made by `make stubs`.

from everflow.contrib.compiler import jit as jit
