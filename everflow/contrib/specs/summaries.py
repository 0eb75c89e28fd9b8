"""What a network is made of: its ops in a line or as a tree, and how many parameters each part has."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from everflow.contrib.specs import specs
from everflow.framework import dtypes
from everflow.framework.operation import Operation, Tensor
from everflow.ops.array import placeholder

__all__ = [
    "tf_left_split",
    "tf_num_params",
    "tf_parameter_iter",
    "tf_parameter_summary",
    "tf_print",
    "tf_spec_print",
    "tf_spec_structure",
    "tf_spec_summary",
    "tf_structure",
]

# Op types that structures name otherwise than by their own name in small letters.
SHORT_NAMES = {
    "BiasAdd": "biasadd",
    "Const": "_",
    "Conv2D": "conv",
    "MatMul": "dot",
    "Placeholder": "_",
    "Sigmoid": "sig",
    "Variable": "var",
}
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def _op(x: Any) -> Operation:
    return x if isinstance(x, Operation) else x.op


def _shape(x: Any) -> list[int]:
    tensor = x.outputs[0] if isinstance(x, Operation) else x
    return tensor.shape.as_list()


def _count(op: Operation) -> int:
    """How many numbers a variable has."""
    shape = op.get_attr("shape")
    return math.prod(dim.size for dim in shape.dim)


def tf_structure(x: Any, include_shapes: bool = False, finished: set | None = None) -> str:
    """The types of the ops that lead to a tensor, inputs first; `<>` stands for one that is there already."""
    finished = set() if finished is None else finished
    op = _op(x)
    if op in finished:
        return " <>"
    finished.add(op)
    shape = f" {_shape(op)}" if include_shapes else ""
    own = "" if op.type == "Identity" else " " + SHORT_NAMES.get(op.type, op.type.lower())
    return "".join(tf_structure(each, include_shapes, finished) for each in op.inputs) + shape + own


def tf_print(x: Any, depth: int = 0, finished: set | None = None, printer: Callable[[str], Any] = print) -> None:
    """Print the ops that lead to a tensor as a tree; what was printed before is in `<>`."""
    finished = set() if finished is None else finished
    op = _op(x)
    if op.type == "Identity":
        tf_print(op.inputs[0], depth, finished, printer)
        return
    shape = x.shape.as_list() if isinstance(x, Tensor) else ""
    known = op in finished
    printer(f"{'  ' * depth}{f'<{op.name}>' if known else op.name} {op.type} {shape}")
    if not known:
        finished.add(op)
        for each in op.inputs:
            tf_print(each, depth + 1, finished, printer)


def tf_num_params(x: Any) -> int:
    """How many numbers there are in the variables that lead to a tensor; one that is read twice counts twice."""
    op = _op(x)
    return _count(op) if op.type in _VARIABLES else sum(map(tf_num_params, op.inputs))


def tf_left_split(op: Operation) -> tuple[Tensor | None, list[Tensor]]:
    """(the first input of an op, the others); (None, []) where it has none."""
    return (op.inputs[0], list(op.inputs[1:])) if op.inputs else (None, [])


def tf_parameter_iter(x: Any) -> Iterator[tuple[str, int, list[int]]]:
    """(name, number of parameters, shape) of each op on the way of first inputs, last ops first."""
    while x is not None:
        first, others = tf_left_split(_op(x))
        yield _op(x).name, sum(map(tf_num_params, others)), _shape(x)
        x = first


def _combine_filter(layers: Iterable[tuple[str, int, list[int]]]) -> Iterator[tuple[str, int, list[int]]]:
    """Neighbours of one outer scope as one."""
    for scope, group in itertools.groupby(layers, lambda layer: layer[0].partition("/")[0]):
        parts = list(group)
        yield scope, sum(count for _, count, _ in parts), parts[-1][2]


def tf_parameter_summary(x: Any, printer: Callable[[str], Any] = print, combine: bool = True) -> None:
    """Print the layers that lead to a tensor, with their numbers of parameters and shapes."""
    layers: Iterable = reversed(list(tf_parameter_iter(x)))
    for name, count, shape in _combine_filter(layers) if combine else layers:
        printer(f"{count:10d} {name:<20s} {shape}")


def _net(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Tensor:
    if inputs is None:
        if input_shape is None:
            raise ValueError("Either inputs or input_shape must be given")
        inputs = placeholder(input_type, input_shape)
    return specs.create_net(spec, inputs)


def tf_spec_structure(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32) -> str:
    """`tf_structure` of a spec's network."""
    return tf_structure(_net(spec, inputs, input_shape, input_type)).strip()


def tf_spec_summary(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32) -> None:
    """Print the layers of a spec's network."""
    tf_parameter_summary(_net(spec, inputs, input_shape, input_type))


def tf_spec_print(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32) -> None:
    """Print a spec's network as a tree."""
    tf_print(_net(spec, inputs, input_shape, input_type))
