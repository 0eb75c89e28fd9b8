# Made by `make stubs`.
from everflow import nondifferentiable_batch_function as _nondifferentiable_batch_function

batch_function = _nondifferentiable_batch_function
