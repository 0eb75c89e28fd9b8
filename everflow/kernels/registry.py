"""The table of kernels: what computes an op type, found by the op type's name.

A kernel is a plain function on torch tensors; docs/adding-ops.md says how it gets inputs, attributes and state.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from everflow.framework.families import Families

# Keyword-only parameters of a kernel that are not attributes.
CONTEXT_NAMES = ("node", "session", "step")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that computes an op type, and what it wants to be told."""

    function: Callable
    attribute_names: tuple[str, ...]
    context_names: tuple[str, ...]
    once: bool = False


_kernels: dict[str, Kernel] = {}
_specializers: dict[str, list[Callable]] = {}
load_all = Families("everflow.kernels").load


def kernel(*op_types: str, once: bool = False):
    """Register the decorated function as the kernel of these op types.

    `once=True`: it is called when a plan is made, not at each run.
    """

    def register(function):
        keywords = _keyword_only(function)
        entry = Kernel(
            function,
            tuple(k for k in keywords if k not in CONTEXT_NAMES),
            tuple(k for k in keywords if k in CONTEXT_NAMES),
            once,
        )
        for op_type in op_types:
            if op_type in _kernels:
                raise ValueError(f"Op type {op_type!r} has a kernel already")
            _kernels[op_type] = entry
        return function

    return register


def specialize(*op_types: str):
    """Register `fn(node)`, which may return a faster callable for one node, or None. With several for an op type the first answer counts."""

    def register(function):
        for op_type in op_types:
            _specializers.setdefault(op_type, []).append(function)
        return function

    return register


def _keyword_only(function) -> list[str]:
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


def specialized(node) -> Callable | None:
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
