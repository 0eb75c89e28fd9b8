# Made by `make stubs`.
from everflow.xla.experimental import jit_scope as _jit_scope

experimental_jit_scope = _jit_scope
