"""Names that programs take from inside TensorFlow's module `framework.ops`."""

from __future__ import annotations

import abc
import contextlib
import itertools
from collections.abc import Callable, Iterator, KeysView, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.eager.mode import enable_eager_execution as enable_eager_execution_internal
from everflow.framework import registry
from everflow.framework.composites import IndexedSlices, SparseTensor
from everflow.framework.conversion import convert_n_to_tensor, convert_to_tensor_or_composite
from everflow.framework.conversion import (
    convert_n_to_tensor_or_indexed_slices as internal_convert_n_to_tensor_or_indexed_slices,
)
from everflow.framework.conversion import (
    convert_to_tensor_or_indexed_slices as internal_convert_to_tensor_or_indexed_slices,
)
from everflow.framework.graph import Graph
from everflow.framework.operation import Tensor
from everflow.framework.scopes import default_graphs as _default_graph_stack
from everflow.framework.scopes import default_sessions as _default_session_stack
from everflow.framework.scopes import executing_eagerly_outside_functions, get_default_graph
from everflow.framework.scopes import graph_from_inputs as _get_graph_from_inputs
from everflow.ops.variables.variable import Variable

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike, GradientFunction, TensorLike

__all__ = [
    "NullContextmanager",
    "RegisterShape",
    "_TensorLike",
    "_assert_same_graph",
    "_default_graph_stack",
    "_default_session_stack",
    "_as_graph_element",
    "_get_graph_from_inputs",
    "_gradient_registry",
    "convert_n_to_tensor_or_composite",
    "dismantle_graph",
    "enable_eager_execution_internal",
    "executing_eagerly_outside_functions",
    "inside_function",
    "internal_convert_n_to_tensor",
    "internal_convert_n_to_tensor_or_composite",
    "internal_convert_n_to_tensor_or_indexed_slices",
    "internal_convert_to_tensor_or_composite",
    "internal_convert_to_tensor_or_indexed_slices",
    "is_dense_tensor_like",
    "name_from_scope_name",
    "numpy_text",
    "register_dense_tensor_like_type",
    "tensor_id",
    "uid",
]
uid = itertools.count(1).__next__


def _assert_same_graph(original_item: Tensor, item: Tensor) -> None:
    """ValueError where two tensors or operations are of different graphs."""
    if original_item.graph is not item.graph:
        raise ValueError(f"{item} is of another graph than {original_item}")


class _Gradients(MutableMapping):
    """The registered gradients as TensorFlow keeps them: programs ask whether one is there, and take one out to put
    their own.
    """

    def __getitem__(self, op_type: str) -> dict[str, Any]:
        registry.load_all()
        return {"type": registry._gradients[op_type], "location": None}

    def __setitem__(self, op_type: str, entry: dict[str, Any]) -> None:
        registry.load_all()
        registry._gradients[op_type] = entry["type"]

    def __delitem__(self, op_type: str) -> None:
        registry.load_all()
        del registry._gradients[op_type]

    def __iter__(self) -> Iterator[str]:
        registry.load_all()
        return iter(list(registry._gradients))

    def __len__(self) -> int:
        registry.load_all()
        return len(registry._gradients)


class _GradientRegistry:
    """`ops._gradient_registry`: the registered gradients by op type, or by the name that a program gave its own.

    >>> if "GuidedRelu" not in ops._gradient_registry._registry:
    ...     tf.RegisterGradient("GuidedRelu")(guided_relu)
    """

    def __init__(self) -> None:
        self._registry = _Gradients()

    def register(self, candidate: GradientFunction, name: str | None = None) -> None:
        """Register a function under a name, or its own; KeyError where there is one already."""
        registry.load_all()
        registry._register_gradient(name or candidate.__name__, candidate)

    def lookup(self, name: str) -> GradientFunction | None:
        """The function under a name; LookupError where there is none."""
        return registry.find_gradient(name)

    def list(self) -> KeysView[str]:
        """All names."""
        return self._registry.keys()


_gradient_registry = _GradientRegistry()


def internal_convert_n_to_tensor(
    values: Sequence[TensorLike],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: DTypeLike | None = None,
    ctx: Any = None,
) -> list[Tensor]:
    """`convert_n_to_tensor`, with its arguments in another order; there is one context only."""
    return convert_n_to_tensor(values, dtype, name, preferred_dtype, as_ref)


internal_convert_to_tensor_or_composite = convert_to_tensor_or_composite


def convert_n_to_tensor_or_composite(
    values: Sequence[TensorLike], dtype: DTypeLike | None = None, name: str | None = None
) -> list[Any]:
    """Each of several values as a tensor, or as the value of several tensors that it is; None stays None."""
    if not isinstance(values, Sequence):
        raise TypeError(f"values must be a sequence, not {values!r}")
    return [
        None if v is None else convert_to_tensor_or_composite(v, dtype, None if name is None else f"{name}_{i}")
        for i, v in enumerate(values)
    ]


internal_convert_n_to_tensor_or_composite = convert_n_to_tensor_or_composite


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """An array, or a tensor that has a value, as text."""
    value = tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)
    text = repr(value) if is_repr else str(value)
    return "\n" + text if "\n" in text else text


def tensor_id(tensor: Tensor) -> int:
    """A number that no other tensor has as long as this one is there."""
    return tensor._id if tensor.is_eager else id(tensor)


def dismantle_graph(graph: Graph) -> None:
    """Let go of a graph's operations, so that nothing holds on to what they hold; it isn't used any more."""
    graph._nodes_by_name.clear()


def name_from_scope_name(name: str) -> str:
    """A scope's name without the slash at its end."""
    return name[:-1] if name and name[-1] == "/" else name


def inside_function() -> bool:
    """Whether the default graph is the body of a function."""
    return get_default_graph().building_function


class NullContextmanager(contextlib.nullcontext):
    """A context that does nothing, whatever it is given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


class _TensorLike(metaclass=abc.ABCMeta):  # noqa: B024  classes are registered with it
    """The classes of tensors, and of sets of tensors that count as one."""


for _kind in (Tensor, SparseTensor, IndexedSlices):
    _TensorLike.register(_kind)
_dense_types: tuple[type, ...] = (Tensor, Variable)


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Let objects of a class count as dense tensors; it has the properties `name` and `dtype`."""
    global _dense_types
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"{tensor_type.__name__} has no property {name!r}, so it can't count as a tensor")
    _dense_types = (*_dense_types, tensor_type)


def is_dense_tensor_like(t: Any) -> bool:
    """Whether something is a tensor, a variable, or of a class that counts as one."""
    return isinstance(t, _dense_types)


def _as_graph_element(obj: Any) -> Any:
    """The tensor or operation of a graph that an object stands for, None where it is none that does."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if convert is not None else None


class RegisterShape:
    """Decorator of shape functions in Python, which no op has used since TensorFlow 1.0; the function itself."""

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, f: Callable) -> Callable:
        return f
