"""Names that programs take from inside TensorFlow's modules of `python.framework`: shapes, devices, types, functions and
what nodes a node needs.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Iterable, Mapping
from typing import Any

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.devices import DeviceSpec, DeviceSpecV2
from everflow.framework.dtypes import DType, int32
from everflow.framework.functions import FuncGraph
from everflow.framework.graph_surgery import _node_of as _node_name
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import Dimension, TensorShape
from everflow.framework.type_specs import TypeSpec
from everflow.ops.array.basic import broadcast_static_shape as broadcast_shape
from everflow.ops.array.constants import _from_shape as _tensor_shape_tensor_conversion_function
from everflow.ops.array.constants import constant
from everflow.ops.functions.defun import DefinedFunction as _DefinedFunction
from everflow.protos import graph_pb2

__all__ = [
    "BatchableTypeSpec",
    "DeviceSpecV1",
    "DeviceSpecV2",
    "_DefinedFunction",
    "_bfs_for_reachable_nodes",
    "_extract_graph_summary",
    "_node_name",
    "_tensor_shape_tensor_conversion_function",
    "broadcast_shape",
    "convert_to_eager_tensor",
    "get_extra_args",
    "get_extra_inputs",
    "get_extra_vars",
    "is_broadcast_compatible",
    "is_constant",
    "is_device_spec",
    "shape_tensor",
]
DeviceSpecV1 = DeviceSpec


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Whether it is known that two shapes can be broadcast to one."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    try:
        broadcast_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def is_device_spec(obj: Any) -> bool:
    """Whether something is a DeviceSpec."""
    return isinstance(obj, DeviceSpecV2)


def shape_tensor(shape: Any) -> Tensor:
    """A shape, or a list of sizes of which some may be tensors, as a tensor; int32 where all are plain numbers."""
    plain = isinstance(shape, (tuple, list)) and all(isinstance(size, (int, Dimension)) for size in shape)
    return convert_to_tensor(shape, dtype=int32 if plain else None, name="shape")


def convert_to_eager_tensor(value: Any, ctx: Any, dtype: DType | None = None) -> Tensor:
    """A value as a tensor that has it; `ctx` is the context, of which there is one."""
    if isinstance(value, Tensor) and value.is_eager:
        if dtype is not None and value.dtype != dtype:
            raise TypeError(f"A tensor of {value.dtype.name} came where {dtype.name} is wanted: {value}")
        return value
    return constant(value, dtype)


def is_constant(tensor_or_op: Any) -> bool:
    """Whether a tensor, or the operation that makes it, is a constant."""
    return getattr(tensor_or_op, "op", tensor_or_op).type == "Const"


class BatchableTypeSpec(TypeSpec):
    """The type of values that can be put together to a batch, and taken apart again."""

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The type of a batch of such values."""

    @abc.abstractmethod
    def _unbatch(self) -> TypeSpec:
        """The type of one of a batch."""


def _captures() -> dict:
    graph = get_default_graph()
    return graph._captures if isinstance(graph, FuncGraph) else {}


def get_extra_vars() -> list:
    """The variables that the body of a function drawn now got from the scope around."""
    return list(getattr(get_default_graph(), "taken_variables", ()))


def get_extra_inputs() -> list:
    """The tensors that the body of a function drawn now took from outside."""
    return list(_captures())


def get_extra_args() -> list:
    """What stands for `get_extra_inputs` in the body."""
    return list(_captures().values())


def _extract_graph_summary(graph_def: graph_pb2.GraphDef) -> tuple[dict, dict, dict]:
    """({name: names of its inputs}, {name: node}, {name: its place}) of the nodes of a graph."""
    nodes = {_node_name(node.name): node for node in graph_def.node}
    inputs = {name: [_node_name(each) for each in node.input] for name, node in nodes.items()}
    return inputs, nodes, {name: place for place, name in enumerate(nodes)}


def _bfs_for_reachable_nodes(target_nodes: Iterable[str], name_to_input_name: Mapping[str, list[str]]) -> set[str]:
    """The names of all nodes that some need, these included."""
    waiting: collections.deque[Any] = collections.deque(target_nodes)
    reached: set[str] = set()
    while waiting:
        name = waiting.popleft()
        if name not in reached:
            reached.add(name)
            waiting.extend(name_to_input_name[name])
    return reached
