"""Types that recur in signatures: what callers may hand in, and what parts of the package are to each other.

Only type checkers read them, so they are imported under `if TYPE_CHECKING:`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from everflow.framework.devices import DeviceSpec
from everflow.framework.dtypes import DType
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.shapes import Dimension, TensorShape
from everflow.protos import function_pb2, tensor_shape_pb2

# What `as_dtype` and `as_shape` take.
DTypeLike: TypeAlias = DType | np.dtype | type | str | int
ShapeLike: TypeAlias = TensorShape | tensor_shape_pb2.TensorShapeProto | Dimension | int | Iterable[Any] | None

# What `convert_to_tensor` takes: tensors, variables, numbers, text, nested lists, arrays, and any class with a
# conversion of its own.
TensorLike: TypeAlias = Any
# Lists, tuples, dicts and attrs classes, nested in any way, or a leaf alone; see `nest`.
Structure: TypeAlias = Any
# Keys: tensors, names, composites or tuples of those. Values: what `np.asarray` takes.
FeedDict: TypeAlias = Mapping[Any, Any]

Element: TypeAlias = Tensor | Operation
# Attributes as a graph holds them: DType, TensorShape, TensorValue, NameAttrList, bytes, int, float, bool, or lists of
# one of these.
Attributes: TypeAlias = dict[str, Any]
# Where in a program something was made: (file, line, function).
Frame: TypeAlias = tuple[str, int, str]
# What `tf.device` takes.
DeviceRequest: TypeAlias = str | DeviceSpec | Callable[[Operation], Any] | None

# `rule(op)`: the static shapes of an op's outputs. `fn(op, *grads)`: a gradient for each of its inputs.
ShapeRule: TypeAlias = Callable[[Operation], Any]
GradientFunction: TypeAlias = Callable[..., Any]


class SessionLike(Protocol):
    """What tensors and operations ask of a session: `runtime.session`'s, or one that wraps another."""

    @property
    def graph(self) -> Graph: ...

    def run(self, fetches: Structure, feed_dict: FeedDict | None = None) -> Any: ...


class GraphFunctionLike(Protocol):
    """What a graph's library holds; `functions.GraphFunction` is one."""

    name: str
    definition: function_pb2.FunctionDef
    op_definition: Any
    gradient_name: str
    plans: dict[Any, Any]


class ControlFlowContext(Protocol):
    """The loop or branch in which operations are made; those of `ops/control_flow` are such."""

    def AddOp(self, op: Operation) -> None: ...


class Listener(Protocol):
    """Wants to know of objects that join others."""

    def joined(self, owner: object) -> None: ...


class Tape(Protocol):
    """Listens to operations as they are made; `ops.gradient_tape` has the one that is used."""

    def record(self, op: Any) -> None: ...

    def variable_accessed(self, variable: Any) -> None: ...

    def watches(self, tensor: Tensor) -> bool: ...
