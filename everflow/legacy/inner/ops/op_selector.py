"""Names that programs take from inside TensorFlow's `op_selector`: lists of elements of one graph, and what operations
depend on.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from everflow.contrib.graph_editor.select import backward_walk
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.legacy.inner.util.object_identity import ObjectIdentitySet
from everflow.ops.gradients.reverse import get_gradient_function

__all__ = [
    "UnliftableError",
    "_as_operation",
    "check_graphs",
    "concatenate_unique",
    "get_backward_walk_ops",
    "get_unique_graph",
    "graph_inputs",
    "is_differentiable",
    "is_iterable",
    "map_subgraph",
]


class UnliftableError(Exception):
    """A tensor can't be brought to another graph."""

    ag_pass_through = True  # AutoGraph hands it on as it is.


def is_differentiable(op: Operation) -> bool:
    """Whether an operation has a gradient; where it is said to have none, or nothing is said, it hasn't."""
    try:
        return get_gradient_function(op) is not None
    except LookupError:
        return False


def get_backward_walk_ops(
    seed_ops,
    inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    stop_at_ts=(),
    control_inputs=False,
    only_differentiable=False,
):
    """The operations that seeds depend on; with `only_differentiable`, what lies behind one without a gradient isn't
    walked to.
    """
    passes = is_differentiable if only_differentiable else None
    return backward_walk(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, control_inputs, passes)


def is_iterable(obj: Any) -> bool:
    """Whether something can be gone through; a tensor of a graph can't."""
    if isinstance(obj, Tensor) and not obj.is_eager:
        return False
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def concatenate_unique(la: list, lb: list) -> list:
    """The first list, with what it lacks of the second one added."""
    known = set(la)
    la.extend(item for item in lb if not (item in known or known.add(item)))
    return la


def _graph_of(element: Any) -> Graph:
    return element if isinstance(element, Graph) else element.graph


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Graph | None:
    """The graph that all tensors and operations are of; ValueError where there are two, or nothing at all."""
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"A list of tensors and operations is wanted, not {type(tops).__name__}")
    kinds = check_types if isinstance(check_types, (list, tuple)) else [check_types]
    kinds = (Operation, Tensor) if check_types is None else tuple(kinds)
    found: Graph | None = None
    for top in tops:
        if not isinstance(top, kinds):
            raise TypeError(f"One of {[kind.__name__ for kind in kinds]} is wanted, not a {type(top).__name__}: {top}")
        if found is not None and top.graph is not found:
            raise ValueError(f"{top} is of another graph than those before it")
        found = top.graph
    if found is None and not none_if_empty:
        raise ValueError("Nothing was given, so there is no graph to be found")
    return found


def check_graphs(*args: Any) -> None:
    """ValueError where elements are of different graphs."""
    graphs = [_graph_of(element) for element in args if element is not None]
    for i, graph in enumerate(graphs):
        if graph is not graphs[0]:
            raise ValueError(f"Argument {i} is of another graph than the first one")


def graph_inputs(op: Operation) -> list[Operation]:
    """The operations that one waits for: those of its inputs, and those it is controlled by."""
    return [tensor.op for tensor in op.inputs] + list(op.control_inputs)


def _as_operation(op_or_tensor: Operation | Tensor) -> Operation:
    return op_or_tensor.op if isinstance(op_or_tensor, Tensor) else op_or_tensor


def map_subgraph(
    init_tensor: Tensor,
    sources: Iterable[Tensor],
    disallowed_placeholders: Container[Operation] | None,
    visited_ops: set[Operation],
    op_outputs: dict[Operation, set[Operation]],
    add_sources: bool,
) -> ObjectIdentitySet:
    """The placeholders that a tensor depends on, looking no further than `visited_ops`.

    Args:
        init_tensor: The tensor to begin at.
        sources: Tensors that are known to come from outside.
        disallowed_placeholders: Operations that mustn't be met.
        visited_ops: Operations that are known already; those that are met are added.
        op_outputs: For each operation those that take something of it; what is met is added.
        add_sources: Whether placeholders that aren't among the sources may be met.

    Raises:
        UnliftableError: If a placeholder is met that mustn't be.
    """
    known, found, waiting = ObjectIdentitySet(sources), ObjectIdentitySet(), [init_tensor.op]
    while waiting:
        op = waiting.pop()
        if op in visited_ops:
            continue
        visited_ops.add(op)
        if op.type == "Placeholder":
            [tensor] = op.outputs
            if op in (disallowed_placeholders or ()) or not (add_sources or tensor in known):
                raise UnliftableError(
                    f"{init_tensor.name} depends on the placeholder {op.name}, which no source stands for"
                )
            found.add(tensor)
        for before in graph_inputs(op):
            op_outputs[before].add(op)
            waiting.append(before)
    return found
