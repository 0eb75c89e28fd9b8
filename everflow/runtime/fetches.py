"""What was asked of a run: any structure of tensors, operations and names, flattened for the plan and put together
again after.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from everflow.framework.composites import (
    CompositeTensor,
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from everflow.framework.errors import InaccessibleTensorError
from everflow.framework.operation import Operation, Tensor

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.graph import Graph
    from everflow.framework.hints import Element, Structure
    from everflow.runtime.session import BaseSession

# A function from the values of the elements to that of one fetch.
_Build: TypeAlias = Callable[[list[Any]], Any]


class Conversion(NamedTuple):
    """How runs treat a class of a program's own; see `register_session_run_conversion_functions`."""

    kind: type
    fetch: Callable[[Any], tuple[list[Any], _Build]]
    feed: Callable[[Any, Any], list[tuple[Any, Any]]] | None
    feed_keys: Callable[[Any], list[Any]] | None


_conversions: list[Conversion] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], tuple[list[Any], _Build]],
    feed_function: Callable[[Any, Any], list[tuple[Any, Any]]] | None = None,
    feed_function_for_partial_run: Callable[[Any], list[Any]] | None = None,
) -> None:
    """Teach `Session.run` a class of your own.

    `fetch_function(x)` gives (list of tensors to fetch, function from their values to the result); `feed_function(x,
    value)` gives [(tensor, value)]; `feed_function_for_partial_run(x)` the list of tensors.
    """
    for known in _conversions:
        if issubclass(tensor_type, known.kind):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _conversions.insert(0, Conversion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def conversion_of(value: object) -> Conversion | None:
    """The registered conversion for an object's class, or None."""
    for entry in _conversions:
        if isinstance(value, entry.kind):
            return entry
    return None


def _slices_parts(slices: IndexedSlices) -> list[Tensor]:
    return [slices.values, slices.indices] + ([] if slices.dense_shape is None else [slices.dense_shape])


# The composites that TensorFlow itself knows: their parts, and the value class to put results in.
_COMPOSITES = [
    (SparseTensor, lambda s: [s.indices, s.values, s.dense_shape], lambda parts: SparseTensorValue(*parts)),
    (
        IndexedSlices,
        _slices_parts,
        lambda parts: IndexedSlicesValue(parts[0], parts[1], parts[2] if len(parts) > 2 else None),
    ),
]


def composite_parts(value: object) -> list[Tensor] | None:
    """The tensors a composite is made of, or None where it is no composite."""
    for kind, parts, _ in _COMPOSITES:
        if isinstance(value, kind):
            return parts(value)
    return value._parts() if isinstance(value, CompositeTensor) else None


class FetchPlan:
    """A flattened fetch argument: `elements` are distinct Tensors and Operations; `build(values)` gives the asked
    structure.
    """

    __slots__ = ("elements", "build")

    def __init__(self, session: BaseSession, fetches: Structure, *, also_of_parts: bool = False) -> None:
        """`also_of_parts`: whether what a branch or a loop holds may be asked for."""
        graph = session.graph
        self.elements: list[Element] = []
        positions: dict[Element, int] = {}

        def position(element: Element) -> int:
            if element not in positions:
                if not also_of_parts and not graph.is_fetchable(element):
                    _refuse(element)
                positions[element] = len(self.elements)
                self.elements.append(element)
            return positions[element]

        self.build = _builder(graph, fetches, position)
        tensors = [(i, e) for i, e in enumerate(self.elements) if isinstance(e, Tensor)]
        handles = {i: e.op.inputs[0].dtype.base_dtype for i, e in tensors if e.op.type in _HANDLE_OPS}
        plain = len(fetches) == len(self.elements) if fetches.__class__ is list else False
        if handles:
            self.build = _with_handles(self.build, handles, session)
        elif plain and all(isinstance(f, (Tensor, Operation, str)) for f in fetches):
            self.build = _as_they_are


def _as_they_are(values: list[Any]) -> list[Any]:
    return values


# What these give is the name of a tensor that stays in the session.
_HANDLE_OPS = ("GetSessionHandle", "GetSessionHandleV2")


def _with_handles(build: _Build, kept: dict[int, DType], session: BaseSession) -> _Build:
    """`kept`: where handles are among the values, and the types of what they stand for."""
    from everflow.ops.queues.session_tensors import TensorHandle  # builds on this module

    def with_handles(values: list[Any]) -> Any:
        for i, dtype in kept.items():
            values[i] = TensorHandle(values[i], dtype, session)
        return build(values)

    return with_handles


def _builder(graph: Graph, fetch: Structure, position: Callable[[Element], int]) -> _Build:
    """A function from the list of values to the value of one fetch."""
    if fetch.__class__ is Tensor or isinstance(fetch, (str, bytes, Operation)):
        return _single(graph, fetch, position)
    if fetch is None:
        raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
    if isinstance(fetch, (list, tuple)):
        parts = [_builder(graph, f, position) for f in fetch]
        make = _sequence_maker(fetch)
        return lambda values: make([part(values) for part in parts])
    if isinstance(fetch, Mapping):
        keys = list(fetch)
        parts = [_builder(graph, fetch[key], position) for key in keys]
        kind_of_dict: Any = type(fetch) if isinstance(fetch, OrderedDict) or not isinstance(fetch, dict) else dict
        return lambda values: kind_of_dict([(key, part(values)) for key, part in zip(keys, parts, strict=True)])
    if hasattr(type(fetch), "__attrs_attrs__"):
        names = [a.name for a in type(fetch).__attrs_attrs__]
        parts = [_builder(graph, getattr(fetch, name), position) for name in names]
        return lambda values: type(fetch)(*[part(values) for part in parts])
    for kind, split, join in _COMPOSITES:
        if isinstance(fetch, kind):
            parts = [_single(graph, t, position) for t in split(fetch)]
            return lambda values: join([part(values) for part in parts])
    if isinstance(fetch, CompositeTensor):
        parts = [_single(graph, t, position) for t in fetch._parts()]
        return lambda values: fetch._fetched([part(values) for part in parts])
    entry = conversion_of(fetch)
    if entry is not None:
        tensors, join = entry.fetch(fetch)
        parts = [_single(graph, t, position) for t in tensors]
        return lambda values: join([part(values) for part in parts])
    return _single(graph, fetch, position)


def _sequence_maker(fetch: Any) -> Callable[[list[Any]], Any]:
    if isinstance(fetch, tuple):
        kind: Any = type(fetch)
        return kind._make if hasattr(fetch, "_fields") else kind
    return list


def _single(graph: Graph, fetch: Any, position: Callable[[Element], int]) -> _Build:
    try:
        element = graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
    except TypeError as e:
        raise TypeError(
            f"Fetch argument {fetch!r} is a {type(fetch)!r}, where a tensor, an operation or a name is wanted. ({e})"
        ) from None
    except (ValueError, KeyError) as e:
        raise ValueError(f"Fetch argument {fetch!r} names nothing that this graph could give. ({e})") from None
    index = position(element)
    return lambda values: values[index]


def _refuse(element: Element) -> NoReturn:
    raise InaccessibleTensorError(
        f"Operation {element.name!r} is not fetchable: it is made inside a branch, a loop or a function."
    )
