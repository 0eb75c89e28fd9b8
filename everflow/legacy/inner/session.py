"""Names that programs take from inside TensorFlow's module `client.session`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.fetches import FetchPlan

_DeviceAttributes = DeviceAttributes


class _GraphOnly:
    """Stands for a session where only its graph is asked for."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class _FetchHandler:
    """What is fetched, flat: tensors and operations; and the structure that was asked for, from their values."""

    def __init__(self, graph: Graph, fetches: Any, feeds: Mapping, feed_handles: Mapping | None = None) -> None:
        self._plan = FetchPlan(_GraphOnly(graph), fetches)
        self._feeds = feeds
        self._handles = feed_handles or {}

    def fetches(self) -> list[Tensor]:
        """The tensors whose values a run has to give: not those that are fed."""
        return [e for e in self._plan.elements if isinstance(e, Tensor) and e not in self._feeds]

    def targets(self) -> list[Operation]:
        """The operations to run."""
        return [e for e in self._plan.elements if isinstance(e, Operation)]

    def build_results(self, session: Any, tensor_values: list) -> Any:
        """The structure with values in place of tensors; None stands for operations."""
        given = iter(tensor_values)
        values = [
            None if isinstance(e, Operation) else self._feeds[e] if e in self._feeds else next(given)
            for e in self._plan.elements
        ]
        return self._plan.build(values)
