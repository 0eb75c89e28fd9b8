"""Last stage: straight-line Python over kernels.

The source is made from node numbers only, never from names that a file could hold. Each statement has a line of its
own, so that a failing line leads back to its node without any cost while things go well.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from sys import getrefcount
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch

from everflow.framework import dtypes, errors
from everflow.kernels import tensors
from everflow.kernels.facts import Effect
from everflow.runtime.plan.aliasing import Aliases
from everflow.runtime.plan.binding import PLACEHOLDERS, bind, constant_value, is_once, missing_kernel, once_value
from everflow.runtime.plan.concurrent_calls import End, concurrently
from everflow.runtime.plan.counters import arithmetic, counters, is_count
from everflow.runtime.plan.failures import not_there, refused, unfed, uninitialized
from everflow.runtime.plan.lifetimes import find_releases
from everflow.runtime.plan.partition import mover, torch_device
from everflow.runtime.plan.partner import side_by_side
from everflow.runtime.plan.pieces import Pieces
from everflow.runtime.plan.program import (
    AT_ONCE,
    FEED,
    IF,
    LOOP,
    VALUE,
    VARIABLE,
    Block,
    Edge,
    Node,
    Program,
    input_counts,
    is_ref,
    loop_variables,
    output_counts,
)  # fmt: skip
from everflow.runtime.plan.reuse import IN_PLACE, is_given_away, reusable_operand
from everflow.runtime.threads import by_one_thread

if TYPE_CHECKING:
    from types import CodeType

    from everflow.runtime.hints import PlanFunction, Recorder, Value
    from everflow.runtime.state import SessionState

_serial = itertools.count()


class Emitted:
    """A plan as a Python function: `function(step, *feeds)` returns a list with one value for each fetch."""

    def __init__(
        self,
        function: PlanFunction,
        source: str,
        codes: frozenset[CodeType],
        line_nodes: list[Node | None],
        names: dict[Edge, str],
        takes_step: bool,
        copies: int,
    ) -> None:
        self.function = function
        self.source = source
        self.codes = codes  # the code objects of its pieces
        self.names = names  # edge → the expression that holds it
        self.takes_step = takes_step
        self.copies = copies  # reads of variables that are copied
        self._line_nodes = line_nodes

    def node_at(self, line: int) -> Node | None:
        """The node whose statement is at a line of the source."""
        return self._line_nodes[line - 1] if 0 < line <= len(self._line_nodes) else None


def emit(
    program: Program,
    aliases: Aliases,
    state: SessionState,
    *,
    to_numpy: bool = True,
    recorder: Recorder | None = None,
) -> Emitted:
    """Make the function of a program.

    `to_numpy=False` gives kernel values, for function bodies. `recorder(node, start, end, values)` is called after each
    node, for traces.
    """
    return _Emitter(program, aliases, state, recorder).emit(to_numpy)


class _Emitter:
    def __init__(self, program: Program, aliases: Aliases, state: SessionState, recorder: Recorder | None) -> None:
        self.program = program
        self.aliases = aliases
        self.copies = aliases.snapshots()
        self.state = state
        self.recorder = recorder
        self.space: dict[str, Any] = {
            "fail_unfed": _raising(unfed),
            "fail_missing": _raising(missing_kernel),
            "fail_dead": _raising(not_there),
            "fail_uninitialized": _raising(uninitialized),
            "copied": copied,
        }
        self.lines: list[str] = []
        self.line_nodes: list[Node | None] = []
        self.names: dict[Edge, str] = {}
        self.takes_step = False
        self.movers: dict = {}
        self.releases = find_releases(program, self.origin, self.is_local)
        self.pieces = Pieces(program)
        self.shared = self.pieces.shared(program, self.origin)
        # Traces show a tensor for each node.
        self.counters = counters(program, self.origin) if recorder is None else frozenset()
        if recorder is not None:
            self.space["clock"] = time.time_ns
            self.space["record"] = recorder

    def emit(self, to_numpy: bool) -> Emitted:
        if not self.pieces.is_whole:
            self.takes_step = True
            self.cut_blocks()
        feeds = "".join(f", f{i}" for i in range(len(self.program.feeds)))
        self.add(0, f"def plan(step{feeds}):", None)
        if not self.pieces.is_whole:
            self.add(1, f"r = [None] * {len(self.shared)}", None)
        for node in self.program.feeds:
            if (node, 0) in self.shared:
                self.add(1, f"{self.name((node, 0))} = f{node.value}", None)
                self.add(1, f"del f{node.value}", None)
        self.block(self.program.top, 1)
        self.add(1, f"return [{', '.join(self.results(to_numpy))}]", None)
        source = "\n".join(self.lines) + "\n"
        code = compile(source, f"<plan {next(_serial)}>", "exec")
        exec(code, self.space)  # the source holds numbers and our own identifiers only
        made = [self.space["plan"], *(self.space[f"piece{i}"] for i in range(1, self.pieces.count))]
        return Emitted(
            made[0],
            source,
            frozenset(f.__code__ for f in made),
            self.line_nodes,
            self.names,
            self.takes_step,
            len(self.copies),
        )

    def add(self, depth: int, line: str, node: Node | None) -> None:
        self.lines.append("    " * depth + line)
        self.line_nodes.append(node)

    # --- blocks: pieces, branches, loops, and when values are let go ------------------------------

    def cut_blocks(self) -> None:
        """The functions of the pieces that a large program is cut into."""
        for pieces in self.pieces.calls.values():
            for number, nodes in pieces:
                self.add(0, f"def piece{number}(step, r):", None)
                self.statements(nodes, 1)
                self.add(1, "return", None)

    def block(self, block: Block, depth: int) -> None:
        """The statements of a block; where it is cut, calls of its pieces."""
        cut = self.pieces.calls.get(block)
        if cut is None:
            self.statements(block, depth)
            return
        for number, _ in cut:
            if block is self.program.top:
                self.add(depth, "if step is not None: step.check()", None)
            self.add(depth, f"piece{number}(step, r)", None)

    def statements(self, nodes: Iterable[Node], depth: int) -> None:
        left = iter([*nodes, None])
        node = next(left)
        while node is not None:
            following = next(left)
            if following is not None and self.program.beside.get(node) is following:
                self.together(side_by_side, [node, following], depth)
                node = next(left)
                continue
            if node.type == LOOP:
                self.loop(node, depth)
            elif node.type == IF:
                self.branch(node, depth)
            elif node.type == AT_ONCE:
                self.at_once(node, depth)
            else:
                self.node(node, depth)
            self.release(node, depth)
            node = following

    def release(self, after: Node, depth: int) -> None:
        """Let go of values: `del`, or None where the value's branch may not have run."""
        sure, maybe = self.releases.sure.get(after), self.releases.maybe.get(after)
        if sure:
            gone = [self.name(e) for e in sure if e not in self.shared]
            maybe = [*(maybe or ()), *(e for e in sure if e in self.shared)]
            if gone:
                self.add(depth, f"del {', '.join(gone)}", None)
        if maybe:
            self.add(depth, f"{' = '.join(self.name(e) for e in maybe)} = None", None)

    def branch(self, branch: Node, depth: int) -> None:
        otherwise, then = branch.blocks
        used = [i for i in range(len(branch.output_dtypes)) if branch.uses[i]]
        sides = [(then, self.name(branch.inputs[0])), (otherwise, f"not {self.name(branch.inputs[0])}")]
        sides = [(block, test) for block, test in sides if block.first is not None or used]
        for turn, (block, test) in enumerate(sides):
            self.add(depth, "else:" if turn else f"if {test}:", branch)
            start = len(self.lines)
            self.block(block, depth + 1)
            for i in used:
                edge = block.end.inputs[i]
                self.add(depth + 1, f"{self.name((branch, i))} = {self.argument(edge, is_ref(branch, i))}", branch)
            self.release(block.end, depth + 1)
            if len(self.lines) == start:
                self.add(depth + 1, "pass", None)

    def loop(self, loop: Node, depth: int) -> None:
        """A while loop: first values, then condition, body and next values over and over."""
        self.first_values(loop, depth)
        if loop.value is not None:
            self.add(depth, f"done = {self.native_call(loop)}", loop)
            self.native_results(loop, depth)
            depth += 1
        self.rounds(loop, depth)

    def first_values(self, loop: Node, depth: int) -> None:
        self.takes_step = True
        for variable, start in zip(loop_variables(loop), loop.inputs, strict=True):
            self.add(depth, f"{self.name((variable, 0))} = {self.carried(variable, start)}", variable)

    def rounds(self, loop: Node, depth: int) -> None:
        condition, body = loop.blocks
        variables = loop_variables(loop)
        self.add(depth, "while True:", None)
        predicate = condition.end.inputs[0]
        self.add(depth + 1, "step.check()", predicate[0])
        self.block(condition, depth + 1)
        self.add(depth + 1, f"if not {self.name(predicate)}: break", predicate[0])
        self.block(body, depth + 1)
        carried = [(v, e) for v, e in zip(variables, body.end.inputs, strict=True) if self.origin(e) != (v, 0)]
        if carried:
            left = ", ".join(self.name((v, 0)) for v, _ in carried)
            right = ", ".join(self.carried(v, e) for v, e in carried)
            self.add(depth + 1, f"{left} = {right}", variables[0])
        self.release(body.end, depth + 1)
        self.release(condition.end, depth)

    def native_call(self, loop: Node) -> str:
        """The call of a loop that is machine code, which gives its results, or None to have the plan run it."""
        native = loop.value
        self.space[f"k{loop.index}"] = native
        arguments = [self.name((v, 0)) for v in loop_variables(loop)] + [self.name(e) for e in native.outer.inputs]
        return f"k{loop.index}(step, {', '.join(arguments)})"

    def native_results(self, loop: Node, depth: int) -> None:
        """What a call gave, and the beginning of what else is done."""
        native = loop.value
        self.add(depth, "if done is not None:", None)
        results = [self.name(e) for e in native.results]
        # What the loop's condition would have left behind is let go below, whoever made it.
        for edge in self.releases.sure.get(loop.blocks[0].end, ()):
            if self.name(edge) not in results:
                self.add(depth + 1, f"{self.name(edge)} = None", None)
        if results:
            self.add(depth + 1, f"{', '.join(results)}, = done", None)
        for edge, name in zip(native.results, results, strict=True):
            if is_count(edge) and self.origin(edge) not in self.counters:
                self.add(depth + 1, f"{name} = {self.tensor_of(edge, name)}", None)
        self.add(depth + 1, "del done", None)
        self.add(depth, "else:", None)

    def at_once(self, group: Node, depth: int) -> None:
        self.together(concurrently, list(group.blocks[0]), depth)
        self.release(group.blocks[0].end, depth)

    def together(self, run: Callable[..., Sequence[End]], nodes: list[Node], depth: int) -> None:
        """Nodes that run at the same time: all of them end, then each raises its error on a line of its own, or gives
        its results.
        """
        self.takes_step = True
        self.space[run.__name__] = run
        for node in nodes:
            if node.type == LOOP:
                self.first_values(node, depth)
        calls = [self.native_call(node) if node.type == LOOP else self.expression(node) for node in nodes]
        self.add(depth, f"ends = {run.__name__}(step, {', '.join(f'lambda: {call}' for call in calls)})", nodes[0])
        for position, node in enumerate(nodes):
            self.add(depth, f"ends[{position}].check()", node)
        for position, node in enumerate(nodes):
            self.begin(depth, node)
            if node.type == LOOP:
                self.add(depth, f"done = ends[{position}].result", node)
                self.native_results(node, depth)
                self.rounds(node, depth + 1)
            elif targets := self.targets(node):
                self.add(depth, f"{targets} = ends[{position}].result", node)
            self.record(node, depth)
        self.add(depth, "del ends", None)
        for node in nodes:
            self.release(node, depth)

    # --- names -------------------------------------------------------------------------------

    def origin(self, edge: Edge) -> Edge:
        """The edge that holds a value, through nodes that only rename it and out of loops."""
        node, output = edge
        while True:
            if node.facts.renames and not self.reads_ref(node):
                edge = node.inputs[0]
            elif node.type == LOOP:
                edge = node.blocks[0].end.inputs[output + 1]
            else:
                return edge
            node, output = edge

    def reads_ref(self, node: Node) -> bool:
        return is_ref(*node.inputs[0]) and not is_ref(node, 0)

    def is_local(self, edge: Edge) -> bool:
        node = edge[0]
        return node.type not in (FEED, VALUE, "Const") and not is_once(node)

    def name(self, edge: Edge) -> str:
        """The expression that holds an edge's value."""
        found = self.names.get(edge)
        if found is None:
            origin = self.origin(edge)
            node, output = origin
            if node.type in (VALUE, "Const") or is_once(node):
                self.bind_value(node)
                found = self.names[origin]
            elif origin in self.shared:
                found = f"r[{self.shared[origin]}]"
            elif node.type == FEED:
                found = f"f{node.value}"
            else:
                found = f"t{node.index}" if output == 0 else f"t{node.index}_{output}"
            self.names[origin] = self.names[edge] = found
        return found

    def value(self, edge: Edge) -> str:
        """As `name`, for who takes tensors."""
        name = self.name(edge)
        return self.tensor_of(edge, name) if self.origin(edge) in self.counters else name

    def tensor_of(self, edge: Edge, name: str) -> str:
        """The tensor of a number that a name holds."""
        dtype = tensors.torch_dtype(edge[0].output_dtypes[edge[1]])
        maker = f"tensor_{str(dtype).rpartition('.')[2]}"
        self.space.setdefault(maker, partial(torch.tensor, dtype=dtype))
        return f"{maker}({name})"

    def number(self, edge: Edge) -> str:
        """As `name`, for who takes a number of Python."""
        name, origin = self.name(edge), self.origin(edge)
        if origin in self.counters:
            return name
        if self.is_local(origin) or origin[0].type == FEED:
            return f"{name}.item()"
        self.space[f"{name}_number"] = self.space[name].item()
        return f"{name}_number"

    def carried(self, variable: Node, edge: Edge) -> str:
        """A first or next value of a loop variable."""
        return self.number(edge) if (variable, 0) in self.counters else self.argument(edge, is_ref(variable, 0))

    def bind_value(self, node: Node) -> None:
        name = f"c{node.index}"
        if name not in self.space:
            try:
                value = once_value(node, self.state) if is_once(node) else constant_value(node, self.state)
                # A second reference, by which kernels that count them see that it is not theirs.
                self.space[name], self.space[f"{name}_kept"] = value, value
            except errors.OpError as e:
                raise refused(e, node) from None
            self.names[node, 0] = name

    # --- nodes -------------------------------------------------------------------------------

    def node(self, node: Node, depth: int) -> None:
        """The statements of one node."""
        if node.type in (FEED, VALUE, VARIABLE, "Const") or is_once(node):
            if node.type not in (FEED, VARIABLE):
                self.bind_value(node)
                if self.recorder is not None and node.type != VALUE:
                    self.begin(depth, node)
                    self.record(node, depth)
            return
        self.begin(depth, node)
        if not node.output_dtypes and node.effect is Effect.PURE:
            pass
        elif node.facts.renames:
            if self.reads_ref(node):
                target = self.name((node, 0))
                self.add(depth, f"{target} = {self.name(node.inputs[0])}.value", node)
                self.add(depth, f"if {target} is None: fail_uninitialized({self.name(node.inputs[0])})", node)
        elif node.type in PLACEHOLDERS:
            self.space[f"n{node.index}"] = node
            self.add(depth, f"fail_unfed(n{node.index})", node)
        else:
            self.call(node, depth)
        self.record(node, depth)

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
            binding = bind(node, self.state)
        except errors.OpError as e:
            raise refused(e, node) from None
        if binding is None:
            self.space[f"n{node.index}"] = node
            return f"fail_missing(n{node.index})"
        function = f"k{node.index}"
        self.space[function] = by_one_thread(binding.function) if node in self.program.short else binding.function
        arguments = self.arguments(node)
        for name, value in binding.keywords.items():
            self.space[f"a{node.index}_{name}"] = value
            arguments.append(f"{name}=a{node.index}_{name}")
        if binding.takes_step:
            self.takes_step = True
            arguments.append("step=step")
        plain = binding.plain
        operand = reusable_operand(node, plain, self.aliases, self.origin) if node.is_used() else None
        if operand is not None:
            if plain in IN_PLACE:
                self.space[function] = IN_PLACE[plain]
            else:
                arguments.append(f"out={self.name(operand)}")
        if binding.may_own and self.recorder is None and is_given_away(node, self.aliases, self.origin):
            arguments.append("owned=True")
        expression = f"{function}({', '.join(arguments)})"
        if self.device_of(node) != "cpu":
            expression = f"{self.mover(node)}({expression})"
        return f"copied({expression})" if node in self.copies else expression

    def arguments(self, node: Node) -> list[str]:
        if node.definition is None:
            return [self.argument(edge, False) for edge in node.inputs]
        result, offset = [], 0
        as_numbers = node.facts.numbers
        for position, (argument, count) in enumerate(input_counts(node)):
            if position in as_numbers and self.origin(node.inputs[offset]) in self.counters:
                result.append(self.name(node.inputs[offset]))
                offset += 1
                continue
            parts = [
                self.moved(self.argument(edge, argument.is_ref), edge, node)
                for edge in node.inputs[offset : offset + count]
            ]
            result.append(f"[{', '.join(parts)}]" if argument.is_list else parts[0])
            offset += count
        return result

    def argument(self, edge: Edge, wants_ref: bool) -> str:
        # A variable without a value gives None here; what the kernel then raises is told as what it is (see
        # failures.py).
        return f"{self.name(edge)}.value" if is_ref(*edge) and not wants_ref else self.value(edge)

    def device_of(self, node: Node) -> str:
        """The torch device of a node's values; what is fed or constant is on the CPU."""
        return "cpu" if node.type in (FEED, VALUE, "Const") else torch_device(node.device)

    def moved(self, expression: str, edge: Edge, node: Node) -> str:
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
        if not node.is_used():
            return ""
        counts = [(None, 1)] * len(node.output_dtypes) if node.definition is None else output_counts(node)
        parts, index = [], 0
        for argument, count in counts:
            names = [self.name((node, i)) if node.uses[i] else "_" for i in range(index, index + count)]
            parts.append(f"[{', '.join(names)}]" if argument is not None and argument.is_list else names[0])
            index += count
        return ", ".join(parts)

    # --- traces -------------------------------------------------------------------------------

    def begin(self, depth: int, node: Node) -> None:
        if self.recorder is not None:
            self.add(depth, "begin = clock()", node)

    def record(self, node: Node, depth: int) -> None:
        """Tell the recorder what a node gave, and how long it took since `begin`."""
        if self.recorder is not None:
            values = [self.name((node, i)) for i in range(len(node.output_dtypes)) if node.uses[i]]
            self.space[f"n{node.index}"] = node
            self.add(depth, f"record(n{node.index}, begin, clock(), [{', '.join(values)}])", node)

    # --- results ------------------------------------------------------------------------------

    def results(self, to_numpy: bool) -> list[str]:
        """The expressions of the fetches."""
        program, copied = self.program, self.aliases.fetches_to_copy()
        result = []
        for number, position in enumerate(program.fetches):
            self.check_alive(number)
            fetch = program.top.end.inputs[position] if position is not None else None
            if fetch is None or (fetch[0].type == FEED and to_numpy):
                result.append("None")  # an operation has no value; what was fed is given back as the caller gave it
                continue
            name = self.value(fetch)
            if is_ref(*fetch):
                self.add(1, f"if {name}.value is None: fail_uninitialized({name})", fetch[0])
                name += ".value"
            if to_numpy:
                dtype = fetch[0].output_dtypes[fetch[1]].base_dtype
                self.space[f"out{number}"] = fetcher(
                    dtype, copied[number], is_local=name.isidentifier() and name[0] == "t"
                )
                name = f"out{number}({name})"
            result.append(name)
        return result

    def check_alive(self, number: int) -> None:
        """Statements that raise where a fetch is in a branch that was not taken."""
        condition = self.program.conditions[number]
        if condition == []:
            return
        tests = []
        for position, side in condition or ():
            name = self.name(self.program.top.end.inputs[position])
            tests.append(name if side else f"not {name}")
        node = self.program.fetched_nodes[number]
        if node is None:
            raise ValueError(f"fetch {number} has a condition and nobody who makes it")
        self.space[f"n{node.index}"] = node
        self.add(1, f"if not ({' and '.join(tests) or 'False'}): fail_dead({number}, n{node.index})", node)


def _raising(make: Callable[..., Exception]) -> Callable[..., NoReturn]:
    """A function that raises the error that another makes."""

    def fail(*arguments: Any) -> NoReturn:
        raise make(*arguments)

    return fail


def copied(value: Value) -> Value:
    """A kernel's result in memory of its own."""
    if isinstance(value, (list, tuple)):
        return type(value)(copied(v) for v in value)
    if isinstance(value, torch.Tensor):
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value


# References to a value that only the function holds that fetches it: its variable, and the arguments of two calls.
_LOCAL_REFERENCES = 3


def fetcher(dtype: dtypes.DType, copy: bool, is_local: bool = False) -> Callable[[Value], Any]:
    """A function from a kernel's value of this dtype to what `Session.run` returns: numpy scalars, arrays, bytes.

    `copy`: somebody else may hold its memory. `is_local`: the value is a local variable of the function that fetches
    it; then its memory is not copied where nobody else turns out to hold it, such as a batch that was just made.
    """
    if dtype is dtypes.string:
        return _fetch_text
    if dtype in (dtypes.resource, dtypes.variant):
        return _fetch_object
    if dtype is dtypes.bfloat16 or dtype.is_quantized or dtype.is_complex:
        return lambda value: np.array(tensors.to_numpy(value), order="C")[()]
    scalar = np.dtype(dtype.as_numpy_dtype).type
    contiguous = torch.contiguous_format

    def fetch(value: torch.Tensor) -> Any:
        if value.dim() == 0:
            return scalar(value.item())
        if copy and not (is_local and getrefcount(value) <= _LOCAL_REFERENCES and tensors.has_memory_alone(value)):
            value = value.clone(memory_format=contiguous)
        return value.contiguous().cpu().numpy()

    return fetch


def _fetch_text(value: np.ndarray) -> Any:
    return value[()] if value.ndim == 0 else np.array(value, copy=True)


def _fetch_object(value: Value) -> Value:
    return value
