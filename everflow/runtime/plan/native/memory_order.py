"""The variables that a program's nodes look at and change, for regions that update them: which buffer a node writes,
whether a value is that very buffer, and what must run before what.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from everflow.framework import dtypes
from everflow.native import lowering
from everflow.runtime.plan.aliasing import Aliases
from everflow.runtime.plan.program import Edge, Node, Program, is_known, is_ref

VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
READS = ("Identity", "ReadVariableOp")


class Variables:
    """The variables of a program as regions need them."""

    def __init__(self, program: Program) -> None:
        program.renumber()
        self._aliases = Aliases(program)
        names: dict[tuple, list[Node]] = {}
        for node in program.nodes():
            if node.type in VARIABLES:
                names.setdefault(_name(node), []).append(node)
        # Two nodes that share a buffer are told apart nowhere else.
        self._single = {nodes[0] for nodes in names.values() if len(nodes) == 1}

    def behind(self, edge: Edge) -> Node | None:
        """The variable that a reference or a handle stands for, where there is only one, of known shape."""
        if not stands_for_variable(edge):
            return None
        found = self._aliases.variables_behind(edge)
        if len(found) != 1:
            return None
        [variable] = found
        return variable if variable in self._single and is_known(variable.attribute("shape")) else None

    def shown(self, edge: Edge) -> frozenset[Node]:
        """The variables whose buffer an edge may show, or stand for."""
        if stands_for_variable(edge):
            return self._aliases.variables_behind(edge)
        return self._aliases.class_of(edge).variables

    def read_by(self, edge: Edge, writer: Node) -> Node | None:
        """The variable whose whole buffer a value is, as it is when the writer runs; None where that is not sure."""
        read = edge[0]
        if read.type not in READS or not stands_for_variable(read.inputs[0]):
            return None
        variable = self.behind(read.inputs[0])
        if variable is None:
            return None
        is_old = variable.type == "VarHandleOp" and self._aliases.is_written(variable, read, writer)
        return None if is_old else variable

    def levels(
        self, stretch: Iterable[Node], chosen: Container[Node], written: Mapping[Node, list[Node]]
    ) -> dict[Node, int]:
        """For nodes that follow each other the level at which each may run, at the earliest: first of a level come
        those that are not `chosen`, then all others as one region. `written`: the variables that nodes change.

        Updates keep their order, and what may fail its place among them: those that come after it are not done if it
        does. Only that a variable has no value may be told sooner.
        """
        levels: dict[Node, int] = {}
        writer: dict[Node, Node] = {}
        readers: dict[Node, list[tuple[Node, Edge]]] = {}
        failing, updating = 0, -1  # the last levels so far of nodes that may fail, and of updates
        for node in stretch:
            level = 0
            for source, _ in node.inputs:
                if source in levels:
                    level = max(level, levels[source] + (source in chosen and node not in chosen))
            for edge in node.inputs:
                for variable in self.shown(edge):
                    if variable in writer:
                        level = max(level, levels[writer[variable]] + 1)
            if node in written:
                level = max(level, failing, updating)
                for variable in written[node]:
                    for reader, edge in readers.get(variable, ()):
                        is_apart = reader in chosen and (writes_rows(node) or self.read_by(edge, node) is not variable)
                        level = max(level, levels[reader] + is_apart)
                updating = max(updating, level)
            elif node not in chosen and node.facts.fails and node.type not in READS:
                level = max(level, updating + 1)
                failing = max(failing, level)
            elif node in chosen and checks(node):  # in one region what is done before it fails is done, too
                level = max(level, updating)
                failing = max(failing, level)
            levels[node] = level
            self._note(node, written.get(node, []), writer, readers)
        return levels

    def _note(
        self,
        node: Node,
        written: list[Node],
        writer: dict[Node, Node],
        readers: dict[Node, list[tuple[Node, Edge]]],
    ) -> None:
        for edge in node.inputs:
            for variable in self.shown(edge):
                readers.setdefault(variable, []).append((node, edge))
        for variable in written:
            writer[variable] = node
            readers[variable] = []


def checks(node: Node) -> bool:
    """Whether machine code looks at values before it knows that a node has results."""
    found = lowering.find(node.type)
    return found is not None and found.checks


def writes_rows(node: Node) -> bool:
    """Whether a node changes single rows of variables, which only it may look at then."""
    found = lowering.find(node.type)
    return found is not None and found.updates and found.checks


def stands_for_variable(edge: Edge) -> bool:
    """Whether an edge is a reference or a handle, not a value."""
    node, output = edge
    return is_ref(node, output) or node.output_dtypes[output] is dtypes.resource


def _name(node: Node) -> tuple:
    kind = "resource" if node.type == "VarHandleOp" else "ref"
    return kind, node.attribute("container"), node.attribute("shared_name") or node.name
