"""Last stage: straight-line Python over kernels.

The source is made from node numbers only, never from names that a file could hold. Each statement has a line of its own, so that a failing
line leads back to its node without any cost while things go well.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import torch

from everflow.framework import dtypes, errors
from everflow.kernels import tensors
from everflow.runtime.plan import aliasing
from everflow.runtime.plan.binding import NOTHING, PLACEHOLDERS, RENAMES, bind, constant_value, is_once, missing_kernel, once_value
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, input_counts, is_ref, output_counts
from everflow.runtime.plan.prune import describe_dtype
from everflow.runtime.plan.schedule import Schedule

_serial = itertools.count()


class Emitted:
    """A plan as a Python function: `function(step, *feeds)` returns a list with one value for each fetch."""

    def __init__(self, function, source: str, line_nodes: list[Node | None], names: dict, takes_step: bool):
        self.function = function
        self.source = source
        self.code = function.__code__
        self.names = names  # edge → the expression that holds it
        self.takes_step = takes_step
        self._line_nodes = line_nodes

    def node_at(self, line: int) -> Node | None:
        """The node whose statement is at a line of the source."""
        return self._line_nodes[line - 1] if 0 < line <= len(self._line_nodes) else None


def emit(program: Program, plan: Schedule, items: list, session, *, to_numpy: bool = True, recorder=None) -> Emitted:
    """Make the function of a plan.

    `to_numpy=False` gives kernel values, for function bodies. `recorder(node, start, end, values)` is called after each node, for traces.
    """
    return _Emitter(program, plan, session, recorder).emit(items, to_numpy)


class _Emitter:
    def __init__(self, program: Program, plan: Schedule, session, recorder):
        self.program = program
        self.copies = plan.copies
        self.session = session
        self.recorder = recorder
        self.space: dict = {"fail_unfed": _fail_unfed, "fail_missing": _fail_missing, "fail_uninitialized": _fail_uninitialized}
        self.lines: list[str] = []
        self.line_nodes: list[Node | None] = []
        self.names: dict[tuple[Node, int], str] = {}
        self.takes_step = False
        self.used = {e for n in program.nodes for e in n.inputs} | {f for f in program.fetches if isinstance(f, tuple)}
        if recorder is not None:
            self.space["clock"] = time.time_ns
            self.space["record"] = recorder

    def emit(self, items: list, to_numpy: bool) -> Emitted:
        feeds = "".join(f", f{i}" for i in range(len(self.program.feeds)))
        self.add(0, f"def plan(step{feeds}):", None)
        for node in self.program.feeds:
            self.names[node, 0] = f"f{node.value}"
        self.block(items, 1)
        self.add(1, f"return [{', '.join(self.results(to_numpy))}]", None)
        source = "\n".join(self.lines) + "\n"
        code = compile(source, f"<plan {next(_serial)}>", "exec")
        exec(code, self.space)  # noqa: S102  the source holds numbers and our own identifiers only
        return Emitted(self.space["plan"], source, self.line_nodes, self.names, self.takes_step)

    def add(self, depth: int, line: str, node: Node | None) -> None:
        self.lines.append("    " * depth + line)
        self.line_nodes.append(node)

    def block(self, items: list, depth: int) -> None:
        """Statements of items, with values freed after the last item that takes them."""
        last = self.last_uses(items)
        for position, item in enumerate(items):
            self.node(item, depth)
            dead = [name for name in last.get(position, ()) if name.startswith("t")]
            if dead:
                self.add(depth, f"del {', '.join(dead)}", None)

    def last_uses(self, items: list) -> dict[int, list[str]]:
        """Position of an item → the edges nobody needs after it, by the names they will get."""
        kept = {self.origin(f) for f in self.program.fetches if isinstance(f, tuple)}
        last: dict[tuple[Node, int], int] = {}
        for position, item in enumerate(items):
            for edge in item.inputs:
                last[self.origin(edge)] = position
            for i in range(len(item.output_dtypes)):
                if (item, i) in self.used:
                    last.setdefault(self.origin((item, i)), position)
        found: dict[int, list[str]] = {}
        for edge, position in last.items():
            if edge not in kept and self.is_local(edge):
                found.setdefault(position, []).append(self.name(edge))
        return found

    def origin(self, edge):
        """The edge that holds a value, through nodes that only rename it."""
        node, _ = edge
        while node.type in RENAMES and not self.reads_ref(node):
            edge = node.inputs[0]
            node = edge[0]
        return edge

    def reads_ref(self, node: Node) -> bool:
        return is_ref(*node.inputs[0]) and not is_ref(node, 0)

    def is_local(self, edge) -> bool:
        node = edge[0]
        return node.type not in (FEED, VALUE, "Const") and not is_once(node)

    def name(self, edge) -> str:
        """The expression that holds an edge's value."""
        found = self.names.get(edge)
        if found is None:
            origin = self.origin(edge)
            node, output = origin
            found = f"t{node.index}" if output == 0 else f"t{node.index}_{output}"
            self.names[edge] = self.names.setdefault(origin, found)
            found = self.names[edge]
        return found

    def node(self, node: Node, depth: int) -> None:
        """The statements of one node."""
        start = len(self.lines)
        if node.type in (FEED, VALUE, "Const") or is_once(node):
            if node.type != FEED:
                name = f"c{node.index}"
                self.space[name] = once_value(node, self.session) if is_once(node) else constant_value(node, self.session)
                self.names[node, 0] = name
        elif node.type in NOTHING:
            pass
        elif node.type in RENAMES:
            if self.reads_ref(node):
                target = self.name((node, 0))
                self.add(depth, f"{target} = {self.name(node.inputs[0])}.value", node)
                self.add(depth, f"if {target} is None: fail_uninitialized({self.name(node.inputs[0])})", node)
        elif node.type in PLACEHOLDERS:
            self.space[f"n{node.index}"] = node
            self.add(depth, f"fail_unfed(n{node.index})", node)
        else:
            self.call(node, depth)
        if self.recorder is not None and node.type != FEED:
            self.record(node, depth, start)

    def call(self, node: Node, depth: int) -> None:
        binding = bind(node, self.session)
        if binding is None:
            self.space[f"n{node.index}"] = node
            self.add(depth, f"fail_missing(n{node.index})", node)
            return
        function = f"k{node.index}"
        self.space[function] = binding.function
        arguments = self.arguments(node)
        for name, value in binding.keywords.items():
            self.space[f"a{node.index}_{name}"] = value
            arguments.append(f"{name}=a{node.index}_{name}")
        if binding.takes_step:
            self.takes_step = True
            arguments.append("step=step")
        targets = self.targets(node)
        expression = f"{function}({', '.join(arguments)})"
        if node in self.copies:
            expression += ".clone()"
        self.add(depth, f"{targets} = {expression}" if targets else expression, node)

    def arguments(self, node: Node) -> list[str]:
        if node.definition is None:
            return [self.argument(edge, False) for edge in node.inputs]
        result, offset = [], 0
        for argument, count in input_counts(node):
            parts = [self.argument(edge, argument.is_ref) for edge in node.inputs[offset : offset + count]]
            result.append(f"[{', '.join(parts)}]" if argument.is_list else parts[0])
            offset += count
        return result

    def argument(self, edge, wants_ref: bool) -> str:
        # A variable without a value gives None here; what the kernel then raises is told as what it is (see failures.py).
        name = self.name(edge)
        return f"{name}.value" if is_ref(*edge) and not wants_ref else name

    def targets(self, node: Node) -> str:
        """The left side of the call's assignment, in the form the kernel returns its outputs."""
        if node.definition is None:
            counts = [(None, 1)] * len(node.output_dtypes)
        else:
            counts = output_counts(node)
        if not any((node, i) in self.used for i in range(len(node.output_dtypes))):
            return ""
        parts, index = [], 0
        for argument, count in counts:
            names = [self.name((node, i)) if (node, i) in self.used else "_" for i in range(index, index + count)]
            parts.append(f"[{', '.join(names)}]" if argument is not None and argument.is_list else names[0])
            index += count
        return ", ".join(parts)

    def record(self, node: Node, depth: int, start: int) -> None:
        """Put clocks around the statements that a node added."""
        self.lines.insert(start, "    " * depth + "begin = clock()")
        self.line_nodes.insert(start, node)
        values = [self.names[node, i] for i in range(len(node.output_dtypes)) if (node, i) in self.used and (node, i) in self.names]
        self.space[f"n{node.index}"] = node
        self.add(depth, f"record(n{node.index}, begin, clock(), [{', '.join(values)}])", node)

    def results(self, to_numpy: bool) -> list[str]:
        """The expressions of the fetches."""
        copied = aliasing.fetches_to_copy(self.program)
        result = []
        for position, fetch in enumerate(self.program.fetches):
            if not isinstance(fetch, tuple) or (fetch[0].type == FEED and to_numpy):
                result.append("None")  # an operation has no value; what was fed is given back as the caller gave it
                continue
            name = self.name(fetch)
            if is_ref(*fetch):
                self.add(1, f"if {name}.value is None: fail_uninitialized({name})", fetch[0])
                name += ".value"
            if to_numpy:
                self.space[f"out{position}"] = fetcher(fetch[0].output_dtypes[fetch[1]].base_dtype, copied[position])
                name = f"out{position}({name})"
            result.append(name)
        return result


def _fail_unfed(node: Node):
    shape = node.output_shapes[0]
    known = "" if shape is None or shape.ndims is None else f" and shape {_shape_text(shape)}"
    raise errors.InvalidArgumentError(
        None, None, f"You must feed a value for placeholder tensor '{node.name}' with dtype {describe_dtype(node.output_dtypes[0])}{known}"
    )


def _shape_text(shape) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"


def _fail_missing(node: Node):
    raise missing_kernel(node)


def _fail_uninitialized(ref):
    raise errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {ref.name}")


def fetcher(dtype, copy: bool):
    """A function from a kernel's value of this dtype to what `Session.run` returns: numpy scalars, arrays, bytes."""
    if dtype is dtypes.string:
        return _fetch_text
    if dtype in (dtypes.resource, dtypes.variant):
        return _fetch_object
    if dtype is dtypes.bfloat16 or dtype.is_quantized or dtype.is_complex:
        return lambda value: np.array(tensors.to_numpy(value, dtype), order="C")[()]
    scalar = np.dtype(dtype.as_numpy_dtype).type
    contiguous = torch.contiguous_format

    def fetch(value):
        if value.dim() == 0:
            return scalar(value.item())
        if copy:
            value = value.clone(memory_format=contiguous)
        return value.contiguous().cpu().numpy()

    return fetch


def _fetch_text(value):
    return value[()] if value.ndim == 0 else np.array(value, copy=True)


def _fetch_object(value):
    return value
