"""Last stage: straight-line Python over kernels.

The source is made from node numbers only, never from names that a file could hold. Each statement has a line of its own, so that a failing
line leads back to its node without any cost while things go well.
"""

from __future__ import annotations

import itertools
import time
from functools import partial

import numpy as np
import torch

from everflow.framework import dtypes, errors
from everflow.kernels import tensors
from everflow.runtime.plan import aliasing
from everflow.runtime.plan.binding import NOTHING, PLACEHOLDERS, RENAMES, bind, constant_value, is_once, missing_kernel, once_value
from everflow.runtime.plan.counters import TAKEN_AS_NUMBERS, arithmetic, counters
from everflow.runtime.plan.failures import refused
from everflow.runtime.plan.partition import mover, torch_device
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, input_counts, is_ref, output_counts
from everflow.runtime.plan.prune import describe_dtype
from everflow.runtime.plan.reuse import IN_PLACE, reusable_operand
from everflow.runtime.plan.schedule import Schedule
from everflow.runtime.plan.structure import DEAD, MERGE, NEXT, Loop, Together, edge_guard
from everflow.runtime.plan.together import together

_serial = itertools.count()

# Reads that give a list of parts.
_LISTS = frozenset(["Split", "SplitV", "Unpack"])


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


def emit(program: Program, plan: Schedule, session, *, to_numpy: bool = True, recorder=None) -> Emitted:
    """Make the function of a plan.

    `to_numpy=False` gives kernel values, for function bodies. `recorder(node, start, end, values)` is called after each node, for traces.
    """
    return _Emitter(program, plan, session, recorder).emit(plan.items, to_numpy)


class _Emitter:
    def __init__(self, program: Program, plan: Schedule, session, recorder):
        self.program = program
        self.copies = plan.copies
        self.session = session
        self.recorder = recorder
        self.space: dict = {
            "fail_unfed": _fail_unfed,
            "fail_missing": _fail_missing,
            "fail_dead": _fail_dead,
            "fail_uninitialized": _fail_uninitialized,
        }
        self.lines: list[str] = []
        self.line_nodes: list[Node | None] = []
        self.names: dict[tuple[Node, int], str] = {}
        self.takes_step = False
        self.movers: dict = {}
        self.used = {e for n in program.nodes for e in n.inputs} | {f for f in program.fetches if isinstance(f, tuple)}
        self.used_origins = {self.origin(e) for e in self.used}
        # Value → who may have made a view of it, which may be around longer.
        self.viewers: dict[tuple[Node, int], set[Node]] = {}
        for n in program.nodes:
            if n.type not in RENAMES and n.type not in aliasing.FRESH:
                for e in n.inputs:
                    self.viewers.setdefault(self.origin(e), set()).add(n)
        self.dying: frozenset = frozenset()  # the values that nobody needs after the item at hand
        # Traces show a tensor for each node.
        self.counters = counters(program, self.origin) if recorder is None else frozenset()
        if recorder is not None:
            self.space["clock"] = time.time_ns
            self.space["record"] = recorder

    def emit(self, items: list, to_numpy: bool) -> Emitted:
        feeds = "".join(f", f{i}" for i in range(len(self.program.feeds)))
        self.add(0, f"def plan(step{feeds}):", None)
        for node in self.program.feeds:
            self.names[node, 0] = f"f{node.value}"
        fetched = [f for f in self.program.fetches if isinstance(f, tuple)]
        kept = {self.origin(f) for f in fetched} | {self.origin(predicate) for f in fetched for predicate, _ in edge_guard(f) or ()}
        self.block(items, 1, (), kept)
        self.add(1, f"return [{', '.join(self.results(to_numpy))}]", None)
        source = "\n".join(self.lines) + "\n"
        code = compile(source, f"<plan {next(_serial)}>", "exec")
        exec(code, self.space)  # the source holds numbers and our own identifiers only
        return Emitted(self.space["plan"], source, self.line_nodes, self.names, self.takes_step)

    def add(self, depth: int, line: str, node: Node | None) -> None:
        self.lines.append("    " * depth + line)
        self.line_nodes.append(node)

    # --- blocks: branches, loops, and when values are let go ---------------------------------

    def block(self, items: list, depth: int, base: tuple, kept: set) -> None:
        """Statements of items that run where the guard `base` holds; values not `kept` go after the last item that takes them."""
        last = self.last_uses(items, kept)
        opened: list = []  # the literals of the `if`s we are in
        for position, item in enumerate(items):
            if item.guard is DEAD:
                continue
            if not self.is_silent(item):
                self.open_branches(item, base, opened, depth)
            here = depth + len(opened)
            dying = last.get(position, ())
            self.dying = frozenset(dying) if isinstance(item, Node) else frozenset()
            if isinstance(item, Loop):
                self.loop(item, here)
            elif isinstance(item, Together):
                self.together(item, here)
            else:
                self.node(item, here)
            self.release(dying, (*base, *opened), here)

    def open_branches(self, item, base: tuple, opened: list, depth: int) -> None:
        """Leave the `if`s that an item is not in, and enter those it is in."""
        inner = [literal for literal in item.guard if literal not in base]
        common = 0
        while common < min(len(opened), len(inner)) and opened[common] == inner[common]:
            common += 1
        del opened[common:]
        for literal in inner[common:]:
            self.add(depth + len(opened), f"if {self.literal(literal)}:", literal[0][0])
            opened.append(literal)

    def is_silent(self, item) -> bool:
        """Whether an item emits no statement, so that no `if` need be opened for it."""
        if not isinstance(item, Node) or self.recorder is not None:
            return False
        return (
            item.type in NOTHING
            or item.type in (FEED, VALUE, "Const")
            or is_once(item)
            or (item.type in RENAMES and not self.reads_ref(item))
        )

    def literal(self, literal) -> str:
        edge, taken = literal
        name = self.name(edge)
        return name if taken else f"not {name}"

    def may_overwrite(self, node: Node, edge) -> bool:
        """Whether a node may write its result over an operand."""
        return edge in self.dying and self.viewers.get(edge, set()) <= {node}

    def release(self, edges, guard: tuple, depth: int) -> None:
        """Let go of values where `guard` holds: `del`, or None where the value's branch may not have run."""
        gone = [self.name(e) for e in edges if set(e[0].guard or ()) <= set(guard)]
        maybe = [self.name(e) for e in edges if not set(e[0].guard or ()) <= set(guard)]
        if gone:
            self.add(depth, f"del {', '.join(gone)}", None)
        if maybe:
            self.add(depth, f"{' = '.join(maybe)} = None", None)

    def last_uses(self, items: list, kept: set) -> dict[int, list]:
        """Position of an item → the values made by these items that nobody needs after it."""
        made: dict = {}
        for position, item in enumerate(items):
            for edge in self.results_of(item):
                if edge in self.used_origins and self.is_local(edge):
                    made.setdefault(edge, position)
        last = dict(made)
        for position, item in enumerate(items):
            for edge in self.taken_by(item):
                if edge in last:
                    last[edge] = max(last[edge], position)
        found: dict[int, list] = {}
        for edge, position in last.items():
            if edge not in kept:
                found.setdefault(position, []).append(edge)
        return found

    def results_of(self, item) -> list:
        if isinstance(item, Loop):
            return [(merge, 0) for merge in item.variables]
        nodes = item.nodes if isinstance(item, Together) else [item]
        return [e for e in ((n, i) for n in nodes for i in range(len(n.output_dtypes))) if self.origin(e) == e]

    def taken_by(self, item) -> set:
        nodes = [item] if isinstance(item, Node) else item.nodes
        taken = {self.origin(e) for n in nodes for e in n.inputs}
        for node in nodes:
            guards = [node.guard] + ([edge_guard(e) for e in node.inputs] if node.type in MERGE else [])
            taken |= {self.origin(predicate) for guard in guards for predicate, _ in guard or ()}
        return taken

    def loop(self, loop: Loop, depth: int) -> None:
        """A while loop: first values, then condition, body and next values over and over."""
        for merge in loop.variables:
            self.add(depth, f"{self.name((merge, 0))} = {self.carried(merge, loop.entry(merge))}", merge)
        self.add(depth, "while True:", None)
        self.takes_step = True
        self.add(depth + 1, "step.check()", loop.predicate[0])
        condition = [i for i in loop.items if i not in loop.body]
        body = [i for i in loop.items if i in loop.body]
        following = [(merge, loop.following(merge)) for merge in loop.variables]
        kept = {self.origin(e) for _, e in following if e is not None} | {(m, 0) for m in loop.variables}
        kept |= {self.origin(loop.predicate)}
        # What the condition computes may be used by the body, so it stays until the next round.
        self.block(condition, depth + 1, loop.guard, kept | {e for i in body for e in self.taken_by(i)})
        self.add(depth + 1, f"if not {self.name(loop.predicate)}: break", loop.predicate[0])
        self.block(body, depth + 1, loop.guard, kept)
        if following:
            left = ", ".join(self.name((merge, 0)) for merge, _ in following)
            right = ", ".join(self.carried(merge, edge) for merge, edge in following)
            self.add(depth + 1, f"{left} = {right}", loop.variables[0])

    def together(self, group: Together, depth: int) -> None:
        """Nodes that run at the same time: all of them end, then each raises its error on a line of its own, or gives its results."""
        self.takes_step = True
        self.space["together"] = together
        calls = [self.expression(node) for node in group.nodes]
        self.add(depth, f"ends = together(step, {', '.join(f'lambda: {call}' for call in calls)})", group.nodes[0])
        for position, node in enumerate(group.nodes):
            self.add(depth, f"ends[{position}].check()", node)
        for position, node in enumerate(group.nodes):
            start = len(self.lines)
            if targets := self.targets(node):
                self.add(depth, f"{targets} = ends[{position}].result", node)
            if self.recorder is not None:
                self.record(node, depth, start)
        self.add(depth, "del ends", None)

    # --- names -------------------------------------------------------------------------------

    def origin(self, edge):
        """The edge that holds a value, through nodes that only rename it."""
        node, _ = edge
        while node.type in RENAMES and not self.reads_ref(node):
            edge = node.inputs[0]
            node = edge[0]
        return (node, 0) if node.type in RENAMES else edge

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
            if node.type in (VALUE, "Const") or is_once(node):
                self.bind_value(node)
                found = self.names[origin]
            else:
                found = self.names.setdefault(origin, f"t{node.index}" if output == 0 else f"t{node.index}_{output}")
            self.names[edge] = found
        return found

    def value(self, edge) -> str:
        """As `name`, for who takes tensors."""
        name = self.name(edge)
        if self.origin(edge) not in self.counters:
            return name
        dtype = tensors.torch_dtype(edge[0].output_dtypes[edge[1]])
        maker = f"tensor_{str(dtype).rpartition('.')[2]}"
        self.space.setdefault(maker, partial(torch.tensor, dtype=dtype))
        return f"{maker}({name})"

    def number(self, edge) -> str:
        """As `name`, for who takes a number of Python."""
        name, origin = self.name(edge), self.origin(edge)
        if origin in self.counters:
            return name
        if self.is_local(origin) or origin[0].type == FEED:
            return f"{name}.item()"
        self.space[f"{name}_number"] = self.space[name].item()
        return f"{name}_number"

    def carried(self, merge: Node, edge) -> str:
        """A first or next value of a loop variable."""
        return self.number(edge) if (merge, 0) in self.counters else self.value(edge)

    def bind_value(self, node: Node) -> None:
        name = f"c{node.index}"
        if name not in self.space:
            try:
                self.space[name] = once_value(node, self.session) if is_once(node) else constant_value(node, self.session)
            except errors.OpError as e:
                raise refused(e, node) from None
            self.names[node, 0] = name

    # --- nodes -------------------------------------------------------------------------------

    def node(self, node: Node, depth: int) -> None:
        """The statements of one node."""
        start = len(self.lines)
        if node.type in (FEED, VALUE, "Const") or is_once(node):
            if node.type != FEED:
                self.bind_value(node)
        elif node.type in NOTHING:
            pass
        elif node.type in RENAMES:
            if self.reads_ref(node):
                target = self.name((node, 0))
                self.add(depth, f"{target} = {self.name(node.inputs[0])}.value", node)
                self.add(depth, f"if {target} is None: fail_uninitialized({self.name(node.inputs[0])})", node)
        elif node.type in MERGE:
            if not self.is_loop_variable(node):
                self.merge(node, depth)
        elif node.type in PLACEHOLDERS:
            self.space[f"n{node.index}"] = node
            self.add(depth, f"fail_unfed(n{node.index})", node)
        else:
            self.call(node, depth)
        if self.recorder is not None and node.type != FEED:
            self.record(node, depth, start)

    def is_loop_variable(self, node: Node) -> bool:
        return any(n.type in NEXT for n, _ in node.inputs)

    def merge(self, node: Node, depth: int) -> None:
        """A Merge takes the input whose branch ran."""
        alive = [(i, e, edge_guard(e)) for i, e in enumerate(node.inputs)]
        alive = [(i, e, [lit for lit in g if lit not in node.guard]) for i, e, g in alive if g is not DEAD]
        for turn, (index, edge, literals) in enumerate(alive):
            last = turn == len(alive) - 1
            test = " and ".join(self.literal(lit) for lit in literals) or "True"
            word = "if" if turn == 0 else "elif"
            if len(alive) > 1:
                self.add(depth, "else:" if last else f"{word} {test}:", node)
            inner = depth + (len(alive) > 1)
            self.add(inner, f"{self.name((node, 0))} = {self.argument(edge, is_ref(node, 0))}", node)
            if (node, 1) in self.used:
                self.space[f"a{node.index}_{index}"] = torch.tensor(index, dtype=torch.int32)
                self.add(inner, f"{self.name((node, 1))} = a{node.index}_{index}", node)

    def call(self, node: Node, depth: int) -> None:
        if (node, 0) in self.counters:
            operands = [self.number(edge) for edge in node.inputs]
            self.add(depth, f"{self.name((node, 0))} = {arithmetic(node, operands)}", node)
            return
        expression = self.expression(node)
        targets = self.targets(node)
        self.add(depth, f"{targets} = {expression}" if targets else expression, node)

    def expression(self, node: Node) -> str:
        """The call of a node's kernel."""
        try:
            binding = bind(node, self.session)
        except errors.OpError as e:
            raise refused(e, node) from None
        if binding is None:
            self.space[f"n{node.index}"] = node
            return f"fail_missing(n{node.index})"
        function = f"k{node.index}"
        self.space[function] = binding.function
        arguments = self.arguments(node)
        for name, value in binding.keywords.items():
            self.space[f"a{node.index}_{name}"] = value
            arguments.append(f"{name}=a{node.index}_{name}")
        if binding.takes_step:
            self.takes_step = True
            arguments.append("step=step")
        operand = reusable_operand(node, binding.function, self.may_overwrite, self.origin) if self.targets(node) else None
        if operand is not None:
            if binding.function in IN_PLACE:
                self.space[function] = IN_PLACE[binding.function]
            else:
                arguments.append(f"out={self.name(operand)}")
        expression = f"{function}({', '.join(arguments)})"
        if self.device_of(node) != "cpu":
            expression = f"{self.mover(node)}({expression})"
        if node in self.copies:
            copy = "copy()" if node.output_dtypes[0].name == "string" else "clone()"
            expression = f"[part.{copy} for part in {expression}]" if node.type in _LISTS else f"{expression}.{copy}"
        return expression

    def arguments(self, node: Node) -> list[str]:
        if node.definition is None:
            return [self.argument(edge, False) for edge in node.inputs]
        result, offset = [], 0
        as_number = TAKEN_AS_NUMBERS.get(node.type)
        for argument, count in input_counts(node):
            if offset == as_number and self.origin(node.inputs[offset]) in self.counters:
                result.append(self.name(node.inputs[offset]))
                offset += 1
                continue
            parts = [self.moved(self.argument(edge, argument.is_ref), edge, node) for edge in node.inputs[offset : offset + count]]
            result.append(f"[{', '.join(parts)}]" if argument.is_list else parts[0])
            offset += count
        return result

    def argument(self, edge, wants_ref: bool) -> str:
        # A variable without a value gives None here; what the kernel then raises is told as what it is (see failures.py).
        return f"{self.name(edge)}.value" if is_ref(*edge) and not wants_ref else self.value(edge)

    def device_of(self, node: Node) -> str:
        """The torch device of a node's values; what is fed or constant is on the CPU."""
        return "cpu" if node.type in (FEED, VALUE, "Const") else torch_device(node.device)

    def moved(self, expression: str, edge, node: Node) -> str:
        if self.device_of(self.origin(edge)[0]) == self.device_of(node):
            return expression
        return f"{self.mover(node)}({expression})"

    def mover(self, node: Node) -> str:
        """The name of the function that brings values to a node's device."""
        device = self.device_of(node)
        name = f"move_{list(dict.fromkeys([*self.movers, device])).index(device)}"
        self.movers[device] = self.space[name] = mover(device)
        return name

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

    def check_alive(self, fetch, position: int) -> None:
        """Statements that raise where a fetch is in a branch that was not taken."""
        guard = edge_guard(fetch)
        if guard == ():
            return
        test = "False" if guard is DEAD else " and ".join(self.literal(literal) for literal in guard)
        self.space[f"n{fetch[0].index}"] = fetch[0]
        self.add(1, f"if not ({test}): fail_dead({position}, n{fetch[0].index})", fetch[0])

    def results(self, to_numpy: bool) -> list[str]:
        """The expressions of the fetches."""
        copied = aliasing.fetches_to_copy(self.program)
        result = []
        for position, fetch in enumerate(self.program.fetches):
            if not isinstance(fetch, tuple) or (fetch[0].type == FEED and to_numpy):
                result.append("None")  # an operation has no value; what was fed is given back as the caller gave it
                continue
            name = self.value(fetch)
            self.check_alive(fetch, position)
            if is_ref(*fetch):
                self.add(1, f"if {name}.value is None: fail_uninitialized({name})", fetch[0])
                name += ".value"
            if to_numpy:
                self.space[f"out{position}"] = fetcher(fetch[0].output_dtypes[fetch[1]].base_dtype, copied[position])
                name = f"out{position}({name})"
            result.append(name)
        return result


def _fail_dead(position: int, node: Node):
    raise errors.InvalidArgumentError(
        None, None, f"Retval[{position}] does not have value: '{node.name}' is in a branch that was not taken"
    )


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
        return lambda value: np.array(tensors.to_numpy(value), order="C")[()]
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
