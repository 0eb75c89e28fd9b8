"""Names that programs take from inside tensorflow.python.ops.resource_variable_ops: variables' handles by themselves, and
what is known of the variables behind them.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import as_shape

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from everflow.framework.hints import DTypeLike, ShapeLike
    from everflow.framework.operation import Tensor

__all__ = [
    "_handle_graph",
    "eager_safe_variable_handle",
    "shape_safe_assign_variable_handle",
    "variable_accessed",
    "variable_handle_from_shape_and_dtype",
]


def variable_handle_from_shape_and_dtype(
    shape: ShapeLike, dtype: DTypeLike, shared_name: str, name: str, graph_mode: bool
) -> Tensor:
    """The handle of a variable, which others of the same `shared_name` share in graphs."""
    return raw.VarHandleOp(shape=shape, dtype=dtype, shared_name=shared_name if graph_mode else "", name=name)


def eager_safe_variable_handle(
    initial_value: Any, shape: ShapeLike, shared_name: str, name: str, graph_mode: bool
) -> Tensor:
    """The handle of a variable of the type that an initial value has."""
    dtype = convert_to_tensor(initial_value).dtype.base_dtype
    return variable_handle_from_shape_and_dtype(shape, dtype, shared_name, name, graph_mode)


def shape_safe_assign_variable_handle(handle: Tensor, shape: ShapeLike, value: Any, name: str | None = None) -> Any:
    """An assignment to a variable of a shape, which the value's must fit."""
    value = convert_to_tensor(value)
    as_shape(shape).assert_is_compatible_with(value.shape)
    return raw.AssignVariableOp(handle, value, name=name)


def variable_accessed(variable: Any) -> None:
    """Tell tapes and the function that is being drawn that a variable is used."""
    variable._note_read()


def _handle_graph(handle: Tensor) -> AbstractContextManager[Any]:
    """A context in which the default graph is the one that a handle is in; any will do for one that was made eagerly."""
    graph = get_default_graph()
    if handle.is_eager or handle.graph is graph or graph.building_function:
        return contextlib.nullcontext()
    return handle.graph.as_default()
