"""Names of tensorflow.python.debug.lib's `common` and `debug_graphs`: what runs, nodes and the nodes of a debugger are
called, and how one comes from a node to those before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from everflow.debug.run_keys import (  # noqa: F401  names of common
    GRPC_URL_PREFIX,
    RunKey,
    get_flattened_names,
    get_graph_element_name,
    get_run_key,
)
from everflow.debug.structure import reconstruct_non_debug_graph_def  # noqa: F401  a name of debug_graphs

_COPY, _DEBUG = "__copy_", "__dbg_"
_DEBUG_NODE = re.compile(r"__dbg_(.+):(\d+)_(\d+)_([^_]+)")


def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """(node, output), with None for the output where only a node is named."""
    node, colon, output = name.rpartition(":")
    return (node, int(output)) if colon and node else (name, None)


def get_node_name(element_name: str) -> str:
    """The node of a tensor."""
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name: str) -> int:
    """Which output of its node a tensor is."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name: str) -> bool:
    """Whether a debugger put a node in to copy a tensor."""
    return node_name.startswith(_COPY)


def is_debug_node(node_name: str) -> bool:
    """Whether a debugger put a node in to look at a tensor."""
    return node_name.startswith(_DEBUG)


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """(node, output, which look at it, op) of a node that a debugger put in to look at a tensor."""
    found = _DEBUG_NODE.fullmatch(node_name)
    if found is None:
        raise ValueError(f"{node_name!r} is not what a debugger calls a node: {_DEBUG}NODE:OUTPUT_NUMBER_OP")
    node, output, number, op = found.groups()
    return node, int(output), int(number), op


class GraphTracingReachedDestination(Exception):
    """Raised when a walk comes to the node that it looks for."""


class DFSGraphTracer:
    """A walk from a node to those before it, depth first; `input_lists` have {node: its inputs} each."""

    def __init__(
        self,
        input_lists: Sequence[Mapping[str, Iterable[str]]],
        skip_node_names: Sequence[str] | None = None,
        destination_node_name: str | None = None,
    ) -> None:
        self._input_lists, self._destination = input_lists, destination_node_name
        self._skipped = set(skip_node_names or ())
        self._inputs: list[str] = []
        self._depths: list[int] = []
        self._seen: set[str] = set()

    def trace(self, graph_element_name: str) -> None:
        """Walk; the nodes that are passed come to `inputs`."""
        self._walk(graph_element_name, 1)

    def _walk(self, element: str, depth: int) -> None:
        node = get_node_name(element)
        if node == self._destination:
            raise GraphTracingReachedDestination
        if node in self._skipped or node in self._seen:
            return
        self._seen.add(node)
        for input_list in self._input_lists:
            for before in input_list.get(node, ()):
                if get_node_name(before) in self._seen:
                    continue
                self._inputs.append(before)
                self._depths.append(depth)
                self._walk(before, depth + 1)

    def inputs(self) -> list[str]:
        """What was passed, in order."""
        return self._inputs

    def depth_list(self) -> list[int]:
        """How far from the start each of it is."""
        return self._depths
