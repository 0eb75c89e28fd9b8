"""`Linear`: the product of joined inputs with one kernel, plus a bias; what most cells here are made of."""

from __future__ import annotations

from everflow.framework import dtypes, nest
from everflow.ops import array, initializers, math, nn
from everflow.ops import variable_scope as scopes
from everflow.ops.constants import constant

KERNEL, BIAS = "kernel", "bias"


class Linear:
    """args * W + b, with variables `kernel` and `bias` made in the variable scope of the construction."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        self._build_bias = build_bias
        if args is None or (nest.is_sequence(args) and not args):
            raise ValueError("`args` must be specified")
        self._is_sequence = nest.is_sequence(args)
        args = list(args) if self._is_sequence else [args]
        total = 0
        for shape in (a.shape for a in args):
            if shape.rank != 2:
                raise ValueError(f"linear is expecting 2D arguments: {[a.shape for a in args]}")
            if shape[1].value is None:
                raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}")
            total += shape[1].value
        dtype = args[0].dtype
        scope = scopes.get_variable_scope()
        with scopes.variable_scope(scope) as outer:
            self._weights = scopes.get_variable(KERNEL, [total, output_size], dtype=dtype, initializer=kernel_initializer)
            if build_bias:
                with scopes.variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    if bias_initializer is None:
                        bias_initializer = initializers.constant_initializer(0.0, dtype=dtype)
                    self._biases = scopes.get_variable(BIAS, [output_size], dtype=dtype, initializer=bias_initializer)

    def __call__(self, args):
        if not self._is_sequence:
            args = [args]
        if len(args) == 1:
            result = math.matmul(args[0], self._weights)
        else:
            one = constant(1, dtype=dtypes.int32)
            result = math.matmul(array.concat(args, one), self._weights)
        return nn.bias_add(result, self._biases) if self._build_bias else result


def linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """args * W + b with variables made (or reused) in the current variable scope."""
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)
