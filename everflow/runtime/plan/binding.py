"""From a node to what computes it: the kernel's function with its attributes and the session's state at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from everflow.framework import errors
from everflow.kernels import registry, tensors
from everflow.kernels.elsewhere import machine_of
from everflow.runtime import checking
from everflow.runtime.plan.locking import excludes_others, locked
from everflow.runtime.plan.program import NATIVE, UPDATE, VALUE, Node, input_counts

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState, Step

PLACEHOLDERS = frozenset(["Placeholder", "PlaceholderV2"])
CONSTANTS = (VALUE, "Const")


@dataclass(slots=True)
class Binding:
    """How to call a node's kernel: `function(*arguments, **keywords)`, with `step=` where `takes_step`; where `may_own`,
    `owned=True` says that nobody else needs its last argument.
    """

    function: Any
    keywords: dict[str, Any] = field(default_factory=dict)
    takes_step: bool = False
    plain: Any = None  # the kernel itself, where `function` is something around it
    may_own: bool = False


def bind(node: Node, state: SessionState | None) -> Binding | None:
    """The binding of a node; None where no kernel knows its op type."""
    if node.type in (NATIVE, UPDATE):
        return Binding(node.value)
    if state is not None and state.graph is not None and _is_function(node, state.graph):
        return _bind_function(node, state)
    entry = registry.lookup(node.type)
    if entry is None:
        return None

    def held(function: Callable[..., Value]) -> Callable[..., Value]:
        """The kernel with what stands round it: locks, and the look at what it does."""
        function = locked(node, function) if excludes_others(node) else function
        is_checked = state is not None and state.checks and not entry.once
        return checking.checked(node, function, entry.facts) if is_checked else function

    special = registry.specialized(node)
    if special is not None:
        return Binding(held(special), plain=special)
    keywords = {name: node.attribute(name) for name in entry.attribute_names}
    if "node" in entry.context_names:
        keywords["node"] = node
    if "session" in entry.context_names:
        keywords["session"] = state
    takes_step, may_own = ("step" in entry.context_names), ("owned" in entry.context_names)
    return Binding(held(entry.function), keywords, takes_step, entry.function, may_own)


def _is_function(node: Node, graph: Graph) -> bool:
    return node.type in graph._functions and registry.lookup(node.type) is None


def _bind_function(node: Node, state: SessionState) -> Binding:
    """A node whose op type is a function of the graph: its call takes all inputs and gives one result or a tuple."""
    call = state.function(node.type)
    count = len(node.output_dtypes)

    def function(*values: Value, step: Step) -> Value:
        results = call(*values, step=step)
        return results[0] if count == 1 else tuple(results) if count else None

    return Binding(function, {}, True)


def is_once(node: Node) -> bool:
    """Whether a node is computed when the plan is made: variables and handles."""
    entry = registry.lookup(node.type)
    return entry is not None and entry.once and not node.inputs


def once_value(node: Node, state: SessionState) -> Value:
    """What a `once` kernel gives: the session's variable or resource."""
    binding = bind(node, state)
    if binding is None:
        raise missing_kernel(node)
    return binding.function(**binding.keywords)


def constant_value(node: Node, state: SessionState) -> Value:
    """The kernel value of a Const node; plans of a session share it."""
    if node.type == VALUE:
        return node.value
    cache = state.constants
    if node.op not in cache:
        cache[node.op] = tensors.from_numpy(node.attribute("value"))
    return cache[node.op]


def call_arguments(node: Node, values: list[Value]) -> list[Any]:
    """Input values grouped by the definition's arguments: a list for a list-valued one."""
    if node.definition is None:
        return values
    arguments, offset = [], 0
    for argument, count in input_counts(node):
        arguments.append(values[offset : offset + count] if argument.is_list else values[offset])
        offset += count
    return arguments


def missing_kernel(node: Node) -> errors.OpError:
    """The error for an op type that nothing computes."""
    machine = machine_of(node.type)
    needs = f", it needs {machine}" if machine else ""
    text = f"Op type {node.type!r} has no kernel here{needs}: the graph can be loaded and inspected, but not run"
    return (errors.InvalidArgumentError if machine else errors.UnimplementedError)(None, None, text)
