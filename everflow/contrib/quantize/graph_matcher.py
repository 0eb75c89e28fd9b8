"""Patterns of ops, found in graphs: `tensorflow.contrib.quantize.python.graph_matcher`."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor


class Pattern(abc.ABC):
    """What an op, or one of its tensors, may look like."""

    @abc.abstractmethod
    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What was found, or None."""


class OpTypePattern(Pattern):
    """An op of certain types, several with `|` between them and any with `*`, whose inputs match patterns in turn, in
    any order where `ordered_inputs` is False.
    """

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str | None] | None = None,
        ordered_inputs: bool = True,
    ) -> None:
        self._types, self._name = op_type.split("|"), name
        self._inputs = [
            each if isinstance(each, Pattern) else OpTypePattern("*" if each is None else each) for each in inputs or ()
        ]
        if not ordered_inputs and len(self._inputs) != 2:
            raise ValueError(f"Two inputs may come in any order; {op_type} is given {len(self._inputs)}")
        self._orders = [self._inputs] if ordered_inputs else [list(p) for p in itertools.permutations(self._inputs)]

    name = property(lambda self: self._name)

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        if self._types != ["*"] and op.type not in self._types:
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        for order in self._orders:
            found = MatchResult()
            found.add(self, op, tensor)
            inside = [pattern.match(t.op, t) for pattern, t in zip(order, op.inputs if order else (), strict=True)]
            if all(each is not None for each in inside):
                for each in inside:
                    found.merge_from(each)
                return found
        return None


class OneofPattern(Pattern):
    """What matches one of several patterns, the first that does."""

    def __init__(self, sub_patterns: Sequence[Pattern]) -> None:
        self._patterns = sub_patterns

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        found = (pattern.match(op, tensor) for pattern in self._patterns)
        return next((each for each in found if each is not None), None)


class MatchResult:
    """Ops and tensors by the patterns that they matched, or by the patterns' names."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple[Operation, Tensor | None]] = {}
        self._by_name: dict[str, Pattern] = {}

    def add(self, pattern: Pattern, op: Operation, tensor: Tensor | None) -> None:
        """Note what a pattern matched."""
        self._found[pattern] = op, tensor
        name = getattr(pattern, "name", None)
        if name is not None:
            if name in self._by_name:
                raise ValueError(f"Two patterns have the name {name!r}")
            self._by_name[name] = pattern

    def _get(self, pattern_or_name: Pattern | str) -> tuple[Any, Any]:
        if isinstance(pattern_or_name, str):
            pattern: Pattern | None = self._by_name.get(pattern_or_name)
        elif isinstance(pattern_or_name, Pattern):
            pattern = pattern_or_name
        else:
            raise ValueError(f"A pattern or its name is wanted, not {pattern_or_name!r}")
        return self._found.get(pattern, (None, None)) if pattern is not None else (None, None)

    def get_op(self, pattern_or_name: Pattern | str) -> Operation | None:
        """The op that a pattern matched, or None."""
        return self._get(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> Tensor | None:
        """The tensor by which the pattern's op was come to, or None."""
        return self._get(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Take over what another match found."""
        self._found.update(other_match_result._found)
        self._by_name.update(other_match_result._by_name)


class GraphMatcher:
    """Finds a pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """What matches at an op, or None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """What matches at some ops."""
        return (found for found in map(self.match_op, ops) if found is not None)

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """What matches anywhere in a graph."""
        return self.match_ops(graph.get_operations())
