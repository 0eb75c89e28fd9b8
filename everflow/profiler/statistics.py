"""How many float operations an op makes: a registry by op type, and TensorFlow's formulas.

A formula is a function of the shapes of a node's inputs and outputs, which have to be known. Some of TensorFlow's are
rough (a convolution's gradients ignore padding, a batched matmul its transposition); numbers that are compared with
published ones need the same.
"""

from __future__ import annotations

import math

from everflow.framework.shapes import TensorShape


class OpStats:
    """A statistic of an op, of which several can be added up."""

    def __init__(self, statistic_type, value=None):
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other):
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"{other.statistic_type!r} and {self.statistic_type!r} are different things: they don't add up."
            )
        known = [value for value in (self.value, other.value) if value is not None]
        self.value = sum(known) if known else None
        return self


_functions: dict[tuple[str, str], callable] = {}


class RegisterStatistics:
    """A decorator that registers `function(graph, node_def)` for an op type and a kind of statistic."""

    def __init__(self, op_type, statistic_type):
        for name, value in (("op_type", op_type), ("statistic_type", statistic_type)):
            if not isinstance(value, str) or "," in value:
                raise TypeError(f"{name} must be a string without a comma, got {value!r}.")
        self._key = (op_type, statistic_type)

    def __call__(self, f):
        if self._key in _functions:
            raise KeyError(f"Registering two statistics for {self._key}!")
        _functions[self._key] = f
        return f


def get_stats_for_node_def(graph, node, statistic_type):
    """The statistic of a node, with the value None where nothing is registered for its type."""
    function = _functions.get((node.op, statistic_type))
    return OpStats(statistic_type) if function is None else function(graph, node)


class _Shapes:
    """The shapes around a node, all of which must be known."""

    def __init__(self, graph, node):
        self._op = graph.get_operation_by_name(node.name)
        self.attr = node.attr

    def input(self, i):
        return self._known(self._op.inputs[i].shape)

    def output(self):
        return self._known(self._op.outputs[0].shape)

    def spatial(self, attribute):
        """The sizes of a window or its strides in height and width."""
        sizes = list(self.attr[attribute].list.i)
        return sizes[1] * sizes[2] if self.attr["data_format"].s != b"NCHW" else sizes[2] * sizes[3]

    @staticmethod
    def _known(shape: TensorShape):
        shape.assert_is_fully_defined()
        return shape.as_list()


def flops(*op_types):
    """Register a formula for float operations: a function of the shapes around a node."""

    def register(formula):
        for op_type in op_types:
            RegisterStatistics(op_type, "flops")(lambda graph, node: OpStats("flops", formula(_Shapes(graph, node))))
        return formula

    return register


def _per_element(count):
    return lambda node: count * math.prod(node.output())


# Operations for each element of the output.
for _count, _op_types in {
    1: """Add Sub Mul RealDiv Maximum Minimum Pow Equal NotEqual Less LessEqual Greater GreaterEqual Neg Square Log Reciprocal
          AssignAdd AssignSub BiasAdd""",
    2: "SquaredDifference Rsqrt",
    4: "RsqrtGrad",
    5: "Softmax",
}.items():
    flops(*_op_types.split())(_per_element(_count))


@flops("Sum", "ArgMax", "ArgMin", "BiasAddGrad")
def _reduction(node):
    return math.prod(node.input(0)) - math.prod(node.output())


@flops("Mean")
def _mean(node):
    return math.prod(node.input(0))


@flops("L2Loss")
def _l2_loss(node):
    return 3 * math.prod(node.input(0)) - 1


@flops("AddN")
def _add_n(node):
    return math.prod(node.output()) * (node.attr["N"].i - 1)


@flops("MatMul", "BatchMatMul")
def _matmul(node):
    a = node.input(0)
    return 2 * (a[-2] if node.attr["transpose_a"].b else a[-1]) * math.prod(node.output())


def _window_flops(window_axes):
    """Two operations for each output and each element of the filter that goes into it."""
    return lambda node: 2 * math.prod(node.output()) * math.prod(node.input(1)[:window_axes])


flops("Conv2D")(_window_flops(3))
flops("Conv3D")(_window_flops(4))
flops("DepthwiseConv2dNative", "Dilation2D")(_window_flops(2))


def _convolution_gradient(images, filters):
    return 2 * math.prod(images[:-1]) * math.prod(filters)


@flops("Conv2DBackpropInput")
def _input_gradient(node):
    return _convolution_gradient(node.output(), node.input(1)) / node.spatial("strides")


@flops("Conv2DBackpropFilter")
def _filter_gradient(node):
    return _convolution_gradient(node.input(0), node.output()) / node.spatial("strides")


@flops("MaxPool", "AvgPool")
def _pool(node):
    return math.prod(node.output()) * node.spatial("ksize")


@flops("MaxPoolGrad")
def _max_pool_gradient(node):
    return math.prod(node.input(1)) * (node.spatial("ksize") + 1)


@flops("AvgPoolGrad")
def _avg_pool_gradient(node):
    return 2 * math.prod(node.input(1)) * node.spatial("ksize")
