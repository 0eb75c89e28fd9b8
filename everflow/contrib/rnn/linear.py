"""The product of joined inputs with one kernel, plus a bias: `Linear` of cells here, `linear` of old programs."""

from __future__ import annotations

from everflow.framework import dtypes, nest
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes

KERNEL, BIAS = "kernel", "bias"


class Linear:
    """args * W + b, with variables `kernel` and `bias` made in the variable scope of the construction."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        self._build_bias = build_bias
        self._is_sequence = nest.is_sequence(args)
        args = _checked(args)
        with scopes.variable_scope(scopes.get_variable_scope()) as scope:
            self._weights = _kernel(args, output_size, kernel_initializer)
            if build_bias:
                self._biases = _bias(scope, args, output_size, bias_initializer)

    def __call__(self, args):
        if not self._is_sequence:
            args = [args]
        if len(args) == 1:
            result = math.matmul(args[0], self._weights)
        else:
            one = constant(1, dtype=dtypes.int32)
            result = math.matmul(array.concat(args, one), self._weights)
        return nn.bias_add(result, self._biases) if self._build_bias else result


class Linears:
    """The `Linear`s of a cell by name, each made when it is first called."""

    def __init__(self):
        self._made = {}

    def __call__(self, name, args, output_size, build_bias=True):
        if name not in self._made:
            self._made[name] = Linear(args, output_size, build_bias)
        return self._made[name](args)


def linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """args * W + b with variables made (or reused) in the current variable scope."""
    args = _checked(args)
    # Not by way of `Linear`: here the product comes before the bias's variable, and both inside the scope opened again.
    with scopes.variable_scope(scopes.get_variable_scope()) as scope:
        weights = _kernel(args, output_size, kernel_initializer)
        result = math.matmul(args[0] if len(args) == 1 else array.concat(args, 1), weights)
        return nn.bias_add(result, _bias(scope, args, output_size, bias_initializer)) if bias else result


def _checked(args) -> list:
    if args is None or (nest.is_sequence(args) and not args):
        raise ValueError("`args` must be specified")
    args = list(args) if nest.is_sequence(args) else [args]
    for shape in (a.shape for a in args):
        if shape.rank != 2:
            raise ValueError(f"Matrices are multiplied, so 2D arguments are wanted: {[a.shape for a in args]}")
        if shape.size(1) is None:
            raise ValueError(f"The second dimension of what is multiplied must be known: {[a.shape for a in args]}")
    return args


def known_width(inputs):
    """The number of columns of a matrix, for which weights are made."""
    width = inputs.shape.with_rank(2).size(1)
    if width is None:
        raise ValueError(f"The size of the inputs must be known to make weights for it: their shape is {inputs.shape}")
    return width


def _kernel(args, output_size, initializer):
    depth = sum(a.shape.size(1) for a in args)
    return scopes.get_variable(KERNEL, [depth, output_size], dtype=args[0].dtype, initializer=initializer)


def _bias(scope, args, output_size, initializer):
    dtype = args[0].dtype
    with scopes.variable_scope(scope) as inner:
        inner.set_partitioner(None)
        if initializer is None:
            initializer = initializers.constant_initializer(0.0, dtype=dtype)
        return scopes.get_variable(BIAS, [output_size], dtype=dtype, initializer=initializer)
