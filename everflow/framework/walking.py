"""Walks over graphs without recursion: a graph may be deeper than Python's calls can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def inputs_first(root: Any, inputs_of: Callable[[Any], Iterable]) -> list:
    """All that `root` is made of and last itself, each once and after its own inputs, in the order in which recursion
    would come to them.
    """
    order, seen, stack = [], {root}, [(root, iter(inputs_of(root)))]
    while stack:
        node, pending = stack[-1]
        for following in pending:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(inputs_of(following))))
                break
        else:
            stack.pop()
            order.append(node)
    return order


def has_cycle(root: Any, inputs_of: Callable[[Any], Iterable]) -> bool:
    """Whether something that `root` is made of is made of itself."""
    state, stack = {root: "open"}, [(root, iter(inputs_of(root)))]
    while stack:
        node, pending = stack[-1]
        for following in pending:
            if state.get(following) == "open":
                return True
            if following not in state:
                state[following] = "open"
                stack.append((following, iter(inputs_of(following))))
                break
        else:
            stack.pop()
            state[node] = "done"
    return False
