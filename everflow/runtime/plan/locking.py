"""Writes of variables that nobody may come between: kernels leave Python's own lock while they compute, so threads
would lose updates.

Ops with the attribute `use_locking` say it themselves; optimizers leave it off, and threads that train together take
their chances.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes
from everflow.runtime.plan.program import Node, input_counts

if TYPE_CHECKING:
    from everflow.kernels.state import Buffer
    from everflow.runtime.hints import Value


def excludes_others(node: Node) -> bool:
    """Whether a node holds the locks of the variables it writes."""
    return node.facts.locks or (
        node.definition is not None and "use_locking" in node.definition.attr_by_name and node.attribute("use_locking")
    )


def locked(node: Node, function: Callable[..., Value]) -> Callable[..., Value]:
    """The function of such a node's kernel, which gets its variables first, under their locks."""
    arguments = [argument for argument, _ in input_counts(node)]
    count = sum(a.is_ref or a.type is dtypes.resource for a in arguments)

    def write_one(variable: Buffer, *others: Value, **keywords: Any) -> Value:
        with variable.lock:
            return function(variable, *others, **keywords)

    def write_several(*values: Value, **keywords: Any) -> Value:
        with contextlib.ExitStack() as held:
            # In the same order everywhere, so that two writers never wait for each other.
            for lock in sorted({v.lock for v in values[:count]}, key=id):
                held.enter_context(lock)
            return function(*values, **keywords)

    return write_one if count == 1 else write_several
