"""The table of kernels: what computes an op type, found by the op type's name.

A kernel is a plain function on torch tensors; docs/adding-ops.md says how it gets inputs, attributes and state.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.registry import Families
from everflow.kernels.facts import FRESH, SHARE, Effect, Facts, same

if TYPE_CHECKING:
    from everflow.kernels.context import Node

# Keyword-only parameters of a kernel that are not attributes.
CONTEXT_NAMES = ("node", "session", "step", "owned")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that computes an op type, and what it wants to be told."""

    function: Callable
    attribute_names: tuple[str, ...]
    context_names: tuple[str, ...]
    once: bool = False
    facts: Facts = Facts()


class TypesError(InvalidArgumentError):
    """An op type has no kernel for a node's types. Executing eagerly, TensorFlow then finds no device for it."""


_F = TypeVar("_F", bound=Callable)

_kernels: dict[str, Kernel] = {}
_specializers: dict[str, list[Callable[[Node], Callable | None]]] = {}
load_all = Families("everflow.kernels", without=frozenset(["lite"])).load  # which has a registry of its own


def kernel(*op_types: str, once: bool = False, **facts: Any) -> Callable[[_F], _F]:
    """Register the decorated function as the kernel of these op types.

    `once=True`: it is called when a plan is made, not at each run. `facts`: what the planner may rely on, see `Facts`.
    A family with facts in common has a `kernel` of its own, as `fresh` and `safe` below.
    """
    declared = Facts(**facts)

    def register(function: _F) -> _F:
        keywords = _keyword_only(function)
        entry = Kernel(
            function,
            tuple(k for k in keywords if k not in CONTEXT_NAMES),
            tuple(k for k in keywords if k in CONTEXT_NAMES),
            once,
            declared,
        )
        for op_type in op_types:
            if op_type in _kernels:
                raise ValueError(f"Op type {op_type!r} has a kernel already")
            _kernels[op_type] = entry
        return function

    return register


# Families of kernels, by what most of them have in common.
fresh = functools.partial(kernel, result=FRESH)
safe = functools.partial(fresh, fails=False)
library = functools.partial(
    fresh, threads_matter_from=0
)  # BLAS and the like cut products and sums where one thread's share ends
by_shares = functools.partial(
    safe, threads_matter_from=SHARE
)  # a share's last values are computed one by one, and round otherwise
reading = functools.partial(fresh, effect=Effect.READS, writes=())  # looks at a variable, a queue, a table
acting = functools.partial(fresh, effect=Effect.ACTS, writes=())  # changes something that is no variable
updating = functools.partial(kernel, result=same(0), effect=Effect.ACTS, writes=(0,))


def specialize(*op_types: str) -> Callable[[_F], _F]:
    """Register `fn(node)`, which may return a faster callable for one node, or None. With several for an op type the
    first answer counts.
    """

    def register(function: _F) -> _F:
        for op_type in op_types:
            _specializers.setdefault(op_type, []).append(function)
        return function

    return register


def _keyword_only(function: Callable) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # torch's built-in functions take tensors only
        return []
    if (getattr(function, "__module__", None) or "").startswith("torch"):
        return []
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def lookup(op_type: str) -> Kernel | None:
    """The kernel of an op type, or None where there is none."""
    load_all()
    return _kernels.get(op_type)


def function_of(op_type: str) -> Callable:
    """What computes an op type that is known to have a kernel."""
    load_all()
    return _kernels[op_type].function


def specialized(node: Node) -> Callable | None:
    """A faster callable for this one node, or None."""
    load_all()
    for function in _specializers.get(node.type, ()):
        found = function(node)
        if found is not None:
            return found
    return None


def names() -> list[str]:
    """All op types that have a kernel."""
    load_all()
    return sorted(_kernels)
