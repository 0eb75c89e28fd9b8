"""First stage: from a graph, the part that the fetches need, cut where values are fed."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everflow.framework import dtypes, errors
from everflow.framework.operation import Tensor
from everflow.runtime.plan.program import FEED, START, Edge, Node

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Operation

MERGE = frozenset(["Merge", "RefMerge"])
NEXT = frozenset(["NextIteration", "RefNextIteration"])


@dataclass(slots=True)
class Pruned:
    """The part of a graph that a run needs, as it was drawn, inputs first. A fetch is an edge, or a node where an
    operation is to be run.
    """

    nodes: list[Node]
    feeds: list[Node]
    fetches: list[Edge | Node]

    def by_device(self) -> dict[str, list[Node]]:
        """The nodes of each device, once they are placed."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            if node.type != START:
                found.setdefault(node.device, []).append(node)
        return found


def prune(fetches: list[Element], feeds: list[Tensor], done: frozenset[Operation] = frozenset()) -> Pruned:
    """What `fetches` (Tensors and Operations) need, given `feeds` (Tensors); operations in `done` need not be waited
    for.
    """
    fed = {tensor: _feed_node(position, tensor) for position, tensor in enumerate(feeds)}
    # Waiting for a placeholder is waiting for its feed.
    done = done | {t.op for t in feeds if t.op.type in ("Placeholder", "PlaceholderV2")}
    needed: dict = {}  # Operation → Node
    stack = [_op_of(f) for f in fetches if f not in fed]
    while stack:
        op = stack.pop()
        if op in needed:
            continue
        needed[op] = None
        stack += [t.op for t in op.inputs if t not in fed and t.op not in needed]
        stack += [c for c in op.control_inputs if c not in needed and c not in done]
    ops = _ordered(needed, fed, done)
    start = len(feeds)
    for position, op in enumerate(ops):
        needed[op] = _node(start + position, op)

    def edge(tensor: Tensor) -> Edge:
        source = fed.get(tensor)
        return (source, 0) if source is not None else (needed[tensor.op], tensor.value_index)

    for op in ops:
        node = needed[op]
        node.inputs = [edge(t) for t in op.inputs]
        node.controls = [needed[c] for c in op.control_inputs if c not in done]
    wanted = [edge(f) if isinstance(f, Tensor) else needed[f] for f in fetches]
    return Pruned(list(fed.values()) + [needed[op] for op in ops], list(fed.values()), wanted)


def _op_of(fetch: Element) -> Operation:
    return fetch.op if isinstance(fetch, Tensor) else fetch


def _feed_node(position: int, tensor: Tensor) -> Node:
    node = Node(position, tensor.op, tensor.op.name, FEED)
    node.value = position
    node.output_dtypes = [tensor.dtype.base_dtype]
    node.output_shapes = [tensor.shape]
    return node


def _node(index: int, op: Operation) -> Node:
    node = Node(index, op, op.name, op.type)
    node.definition = op.definition
    node.output_dtypes = [t.dtype for t in op.outputs]
    node.output_shapes = [t.shape for t in op.outputs]
    node.device = op.device
    return node


def _ordered(
    needed: Mapping[Operation, Node],
    fed: Mapping[Tensor, Node],
    done: Collection[Operation],
) -> list[Operation]:
    """Creation order, with inputs first where a graph was wired in another order; a cycle without a loop is an error."""
    ops = sorted(needed, key=lambda op: op._id)
    place = {op: i for i, op in enumerate(ops)}
    if all(place[source] < i for i, op in enumerate(ops) for source in _sources(op, fed, done)):
        return ops
    waiting = {op: set(_sources(op, fed, done)) for op in ops}
    users: dict = {op: [] for op in ops}
    for op, sources in waiting.items():
        for source in sources:
            users[source].append(op)
    ready = [place[op] for op in ops if not waiting[op]]
    heapq.heapify(ready)
    result = []
    while ready:
        op = ops[heapq.heappop(ready)]
        result.append(op)
        for user in users[op]:
            waiting[user].discard(op)
            if not waiting[user]:
                heapq.heappush(ready, place[user])
    if len(result) < len(ops):
        stuck = sorted((op for op in ops if waiting[op] and op not in set(result)), key=lambda op: op._id)
        names = ", ".join(repr(op.name) for op in stuck[:5])
        text = f"The graph has a cycle that is not a while loop; {len(stuck)} nodes wait for each other, among them {names}"
        raise errors.InvalidArgumentError(stuck[0].node_def, stuck[0], text)
    return result


def _sources(op: Operation, fed: Mapping[Tensor, Node], done: Collection[Operation]) -> Iterator[Operation]:
    """What must run before an op: loops' back edges don't count."""
    for tensor in op.inputs:
        if tensor not in fed and not (op.type in MERGE and tensor.op.type in NEXT):
            yield tensor.op
    yield from (c for c in op.control_inputs if c not in done)


def describe_dtype(dtype: dtypes.DType) -> str:
    """A dtype as TensorFlow's run time names it: "float", "double", "half", else its usual name."""
    return {dtypes.float32: "float", dtypes.float64: "double", dtypes.float16: "half"}.get(
        dtype.base_dtype, dtype.base_dtype.name
    )
