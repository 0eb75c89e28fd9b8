"""Ops that call functions of the graph: calls, functional branches and loops, gradients of functions, Python functions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes, errors
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import GraphFunction
from everflow.framework.shapes import TensorShape
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensor_arrays.lists import TensorList
from everflow.kernels.tensors import torch_dtype
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.gradients.reverse import gradients

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.operation import Tensor
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Value
    from everflow.protos.attr_value_pb2 import NameAttrList

_calling = functools.partial(kernel, threads_matter_from=0)  # whatever the function has in it


@_calling("PartitionedCall", "StatefulPartitionedCall")
def partitioned_call(args: list[Value], *, f: NameAttrList, session: Session, step: Step) -> list[Value]:
    return session.function(f)(*args, step=step)


def is_true(condition: torch.Tensor) -> bool:
    """A condition as `If` and `While` take it: a bool, a non-zero number, a non-empty string or tensor."""
    if isinstance(condition, np.ndarray):
        return bool(condition.item()) if condition.ndim == 0 else condition.size > 0
    if condition.ndim == 0:
        return bool(condition)
    return condition.numel() > 0


def _decides(condition: torch.Tensor, node: Node) -> bool:
    """The condition of a branch or loop: what `tf.cond` and `tf.while_loop` drew stands for a Switch, which takes one
    bool only.
    """
    if not node.attrs.get("_lower_using_switch_merge"):
        return is_true(condition)
    if condition.dtype is not torch.bool or condition.numel() != 1:
        raise errors.InvalidArgumentError(None, None, f"A condition must be a single bool, not {condition!r}")
    return bool(condition)


@_calling("MapDefun")
def map_defun(
    arguments: list[torch.Tensor],
    captured_inputs: list[Value],
    *,
    output_types: list[DType],
    output_shapes: list[TensorShape],
    f: NameAttrList,
    session: Session,
    step: Step,
) -> list[Value]:
    """A function of each row, its results stacked."""
    call, sizes, none = session.function(f), {len(column) for column in arguments}, TensorShape([0])
    if len(sizes) > 1:
        raise errors.InvalidArgumentError(None, None, f"All arguments have as many rows as the first: {sorted(sizes)}")
    rows = [call(*row, *captured_inputs, step=step) for row in zip(*arguments)]
    if not rows:
        return [fake_param(dtype=t, shape=none.concatenate(shape)) for t, shape in zip(output_types, output_shapes)]
    if len(rows[0]) != len(output_types):
        raise errors.InvalidArgumentError(
            None, None, f"The function gave {len(rows[0])} results, where {len(output_types)} were to be expected"
        )
    return [_stacked(column, t, shape) for column, t, shape in zip(zip(*rows), output_types, output_shapes)]


def _stacked(column: tuple[Value, ...], dtype: DType, shape: TensorShape) -> Value:
    """What a function gave for each row, as one tensor; InvalidArgumentError where that is not what was said."""
    for value in column:
        if not shape.is_compatible_with(tuple(value.shape)) or tuple(value.shape) != tuple(column[0].shape):
            raise errors.InvalidArgumentError(
                None, None, f"The function gave a row of shape {list(value.shape)}, where {shape} was to be expected"
            )
        if isinstance(value, torch.Tensor) and value.dtype != torch_dtype(dtype):
            raise errors.InvalidArgumentError(None, None, f"The function gave {value.dtype}, not {dtype.name}")
    if isinstance(column[0], torch.Tensor):
        return torch.stack(list(column))
    return np.stack(list(column))


@_calling("If", "StatelessIf")
def if_(
    cond: torch.Tensor,
    input: list[Value],
    *,
    then_branch: NameAttrList,
    else_branch: NameAttrList,
    session: Session,
    step: Step,
    node: Node,
) -> list[Value]:
    return session.function(then_branch if _decides(cond, node) else else_branch)(*input, step=step)


@_calling("Case")
def case(
    branch_index: torch.Tensor, input: list[Value], *, branches: list[NameAttrList], session: Session, step: Step
) -> list[Value]:
    index = int(branch_index)
    chosen = branches[index] if 0 <= index < len(branches) else branches[-1]
    return session.function(chosen)(*input, step=step)


@_calling("While", "StatelessWhile")
def while_(
    input: list[Value], *, cond: NameAttrList, body: NameAttrList, session: Session, step: Step, node: Node
) -> list[Value]:
    test, again = session.function(cond), session.function(body)
    values = list(input)
    while _decides(test(*values, step=step)[0], node):
        step.check()
        values = again(*values, step=step)
    return values


@_calling("For")
def for_(
    start: torch.Tensor,
    limit: torch.Tensor,
    delta: torch.Tensor,
    input: list[Value],
    *,
    body: NameAttrList,
    session: Session,
    step: Step,
) -> list[Value]:
    again = session.function(body)
    values = list(input)
    stride = int(delta)
    first, end = int(start), int(limit)
    if first == end:
        return values
    if (end - first) * stride <= 0:
        raise errors.InvalidArgumentError(
            None, None, f"Invalid start/limit/delta: {first} {end} {stride}; such steps never come to the limit"
        )
    for i in range(first, end, stride):
        values = again(torch.tensor(i, dtype=torch.int32), *values, step=step)
    return values


@fresh("FakeParam")
def fake_param(*, dtype: DType, shape: TensorShape) -> Value:
    if dtype in (dtypes.variant, dtypes.resource):
        return TensorList()
    if dtype == dtypes.string:
        return np.full([d or 0 for d in shape.as_list()] if shape.rank is not None else [], b"", dtype=object)
    return torch.zeros([d or 0 for d in shape.as_list()] if shape.rank is not None else [], dtype=torch_dtype(dtype))


@_calling("SymbolicGradient")
def symbolic_gradient(input: list[Value], *, f: NameAttrList, session: Session, step: Step) -> list[Value]:
    """Gradients of a function: its own gradient function where it has one, else differentiated like a graph, once."""
    function: Any = session.graph._get_function(f.name)
    if function is None:
        raise errors.NotFoundError(None, None, f"Function {f.name} is not defined.")
    if function.gradient_name:
        return session.function(function.gradient_name)(*input, step=step)
    name = f"__grad__{f.name}"
    if name not in session.derivatives:
        # Sessions share it, since it is drawn into the function's own body.
        function.derivative = session.derivatives[name] = function.derivative or _Differentiated(function)
    return session.function(name)(*input, step=step)


class _Differentiated:
    """The gradient of a function, as the plan compiler takes functions: (inputs, outputs) of a graph."""

    def __init__(self, function: GraphFunction) -> None:
        self._function = function
        self._tensors: tuple[list[Tensor], list[Tensor]] | None = None

    def body_controls(self) -> list[Any]:
        return []

    def body_tensors(self) -> tuple[list[Tensor], list[Tensor]]:
        if self._tensors is None:
            inputs, outputs = self._function.body_tensors()
            with outputs[0].graph.as_default():
                grad_inputs = [constants.placeholder(t.dtype, t.shape) for t in outputs]
                found = gradients(outputs, inputs, grad_inputs)
                found = [array.zeros_like(x) if g is None else _dense(g) for x, g in zip(inputs, found)]
            self._tensors = [*inputs, *grad_inputs], found
        return self._tensors


def _dense(gradient: Tensor) -> Tensor:
    return convert_to_tensor(gradient)
