"""tensorflow.python.ops.resource_variable_ops: variables without an initial value, as functions that are lifted to another
graph need them, and what is known of a handle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import (
    add_to_collection,
    device,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.framework.shapes import as_shape
from everflow.ops.variables.handles import handle_data
from everflow.ops.variables.options import (
    VariableAggregation,
    VariableSynchronization,
    validate_synchronization_aggregation_trainable,
)
from everflow.ops.variables.resource import BaseResourceVariable

if TYPE_CHECKING:
    from everflow.framework.operation import Tensor

__all__ = ["UninitializedVariable", "copy_to_graph_uninitialized", "get_eager_safe_handle_data"]


class UninitializedVariable(BaseResourceVariable):
    """A variable that is only there: nothing gives it its first value but an assignment."""

    def __init__(
        self,
        trainable: bool | None = None,
        caching_device: Any = None,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        extra_handle_data: Any = None,
        distribute_strategy: Any = None,
        **unused_kwargs: Any,
    ) -> None:
        options = validate_synchronization_aggregation_trainable(
            synchronization or VariableSynchronization.AUTO, aggregation or VariableAggregation.NONE, trainable, name
        )
        self._synchronization, self._aggregation, self._trainable = options
        self._dtype, self._shape = dtypes.as_dtype(dtype).base_dtype, as_shape(shape)
        self._constraint, self._distribute_strategy = constraint, distribute_strategy
        self._initial_value = self._initializer_op = self._is_initialized_op = None
        self._graph_element = self._cached_value = self._save_slice_info = None
        with init_scope():
            graph = get_default_graph()
            self._graph_key = graph._graph_key
            with name_scope(name, "Variable") as scope:
                self._handle_name = scope[:-1] + ":0"
                self._handle = raw.VarHandleOp(dtype=self._dtype, shape=self._shape, shared_name=scope[:-1], name=scope)
                if executing_eagerly():
                    return
                with name_scope("Read"), device(self._handle.device):
                    self._graph_element = self._read_variable_op()
            # Whoever made it trains it, if anyone does: this one is only saved and looked up.
            add_to_collection("variables", self)

    @property
    def _in_graph_mode(self) -> bool:
        return not self._handle.is_eager


def copy_to_graph_uninitialized(var: Any) -> UninitializedVariable:
    """A variable like another one, in the default graph, without its value."""
    return UninitializedVariable(
        trainable=var.trainable,
        name=var._shared_name,
        shape=var.shape,
        dtype=var.dtype,
        constraint=var._constraint,
        synchronization=var.synchronization,
        aggregation=var.aggregation,
    )


class _ShapeAndType(NamedTuple):
    """What a variable is of: messages of TensorFlow's graph files."""

    shape: Any
    dtype: int


class HandleData(NamedTuple):
    """What is known of the variables behind a handle."""

    is_set: bool
    shape_and_type: list[_ShapeAndType]


def get_eager_safe_handle_data(handle: Tensor) -> HandleData:
    """What is known of the variable behind a handle."""
    shape, dtype = handle_data(handle)
    if dtype is None:
        return HandleData(False, [])
    return HandleData(True, [_ShapeAndType(shape.as_proto(), dtype.as_datatype_enum)])
