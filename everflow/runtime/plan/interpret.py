"""Runs the nodes of a graph one by one, with nothing rewritten: for graphs without while loops and branches in them,
and as the reference.

The reference copies whatever a kernel is given and gives, so that nothing can be changed by mistake; plans must agree
with it. `ConfigProto.experimental.executor_type = "REFERENCE"` (or EVERFLOW_EXECUTOR=REFERENCE in the environment)
makes a session use it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import errors
from everflow.runtime.denormals import flush
from everflow.runtime.plan.binding import (
    PLACEHOLDERS,
    bind,
    call_arguments,
    constant_value,
    is_once,
    missing_kernel,
    once_value,
)
from everflow.runtime.plan.collectives import take_apart
from everflow.runtime.plan.concurrent_calls import concurrently
from everflow.runtime.plan.emit import fetcher
from everflow.runtime.plan.failures import not_there, refused, told, unfed, uninitialized
from everflow.runtime.plan.partition import mover, torch_device
from everflow.runtime.plan.place import Placer, place
from everflow.runtime.plan.program import FEED, Node, flat_results, input_counts, is_ref
from everflow.runtime.plan.prune import Pruned, prune
from everflow.runtime.plan.tokens import DEAD, KINDS, Flow, Layout
from everflow.runtime.plan.turns import Turns, passes, shows
from everflow.runtime.state import Step
from everflow.runtime.threads import use
from everflow.runtime.tracing import NOT_THERE

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Operation, Tensor
    from everflow.kernels.state import Ref
    from everflow.runtime.hints import Recorder, Value
    from everflow.runtime.state import SessionState


def interpret(
    fetches: list[Element],
    feeds: list[Tensor],
    state: SessionState,
    placer: Placer,
    *,
    copying: bool,
    to_numpy: bool = True,
    done: frozenset[Operation] = frozenset(),
    recorder: Recorder | None = None,
    as_created: bool = False,
    threads: int = 0,
) -> Interpreted:
    """What runs `fetches` (Tensors and Operations) from `feeds` (Tensors) node by node; called as a `Plan` is.

    `copying`: as the reference. The other parameters are those of `compile_plan`.
    """
    program = prune(fetches, feeds, done)
    place(program, placer)
    take_apart(program)
    return Interpreted(
        program, state, copying=copying, to_numpy=to_numpy, recorder=recorder, as_created=as_created, threads=threads
    )


class Interpreted:
    """A program with a kernel for each node. It holds no values of its own, so any number of threads may call it at
    once.
    """

    takes_step = True

    def __init__(
        self,
        program: Pruned,
        session: SessionState,
        *,
        copying: bool,
        to_numpy: bool = True,
        recorder: Recorder | None = None,
        as_created: bool = False,
        threads: int = 0,
    ) -> None:
        self.program = program
        self.state = session
        self.devices = program.by_device()
        self.fed_fetches = [
            (i, f[0].value) for i, f in enumerate(program.fetches) if isinstance(f, tuple) and f[0].type == FEED
        ]
        self.layout = Layout(program)
        self.turns = Turns(self.layout, as_created)
        self.wanted: dict[Node, list[int]] = {}
        self.outputs: dict[int, int] = {}  # fetch → which output of its node it is
        for i, fetch in enumerate(program.fetches):
            if isinstance(fetch, tuple):
                self.wanted.setdefault(fetch[0], []).append(i)
                self.outputs[i] = fetch[1]
        self._to_numpy = to_numpy
        self._recorder = recorder
        self._threads = threads
        self._calls = {node: _Call(node, session, copying, node in self.turns.exposed) for node in self.layout.nodes}

    def __call__(self, feeds: Sequence[Value], step: Step | None = None) -> list[Any]:
        """One run: kernel values in, one value for each fetch out."""
        step = step or Step(self.state)
        if self._threads:
            flush(True)
            use(self._threads)
        try:
            return self._results(_Run(self, feeds, step).finish())
        except Exception:
            step.abandon()
            raise
        finally:
            if self._threads:
                flush(False)

    def call(self, node: Node, values: list[Value], run: _Run) -> list[Value]:
        """The outputs of a node that is given these values."""
        start = time.time_ns() if self._recorder is not None else 0
        try:
            outputs = self._calls[node](values, run)
        except Exception as e:
            error = told(e, node, values)
            # What a kernel can only have raised by mistake is kept for whoever mends it.
            error.__cause__ = (
                e
                if isinstance(e, (TypeError, AttributeError, LookupError, NameError)) and error is not e
                else error.__cause__
            )
            failed = error
        else:
            self.record(node, start, outputs)
            return outputs
        raise failed

    def record(self, node: Node, start: int, outputs: list[Value]) -> None:
        """Tell whoever records the run what a node gave."""
        if self._recorder is not None and node.type != FEED:
            self._recorder(node, start, time.time_ns(), [NOT_THERE if o is DEAD else o for o in outputs])

    def _results(self, found: dict[int, Any]) -> list[Any]:
        results: list = []
        for position, fetch in enumerate(self.program.fetches):
            if not isinstance(fetch, tuple) or (fetch[0].type == FEED and self._to_numpy):
                results.append(None)  # an operation has no value; what was fed is given back as the caller gave it
                continue
            try:
                if position not in found:
                    raise not_there(position, fetch[0])
                value = _read(found[position]) if is_ref(*fetch) else found[position]
            except errors.OpError as e:
                raise told(e, fetch[0], [None] * len(fetch[0].inputs)) from None
            results.append(
                fetcher(fetch[0].output_dtypes[fetch[1]].base_dtype, True)(value) if self._to_numpy else value
            )
        return results


class _Run:
    """One run of a program: the nodes that are ready, in turns."""

    def __init__(self, owner: Interpreted, feeds: Sequence[Value], step: Step) -> None:
        self._owner = owner
        self._turns = owner.turns
        self.feeds = feeds
        self.step = step
        self.flow = Flow(owner.layout, owner.turns.place, step.check)
        self.found: dict[int, Any] = {}  # fetch → its value
        self._parked: list = []  # writes before which uses come
        self._met: dict[Node, tuple] = {}  # nodes that wait for those that run at the same time

    def finish(self) -> dict[int, Any]:
        """Run everything; what the fetches are."""
        while entry := self._next():
            iteration, node, inputs, dead = entry
            if node in self._turns.concurrent and not dead:
                self._meet(entry)
            elif dead:
                self._end(entry, [DEAD] * len(node.output_dtypes))
            elif KINDS.get(node.type) == "Merge":
                value = inputs.values[inputs.live]
                source = node.inputs[inputs.live]
                if is_ref(*source) and not is_ref(node, 0):
                    value = _read(value)
                joined = [value, torch.tensor(inputs.live, dtype=torch.int32)]
                self._owner.record(node, time.time_ns(), joined)
                self._end(entry, joined)
            else:
                self._end(entry, self._owner.call(node, inputs.values, self))
        return self.found

    def _next(self) -> tuple | None:
        for entry in self._parked:
            if not self._turns.must_wait(*entry[:2]):
                self.flow.put_back(entry)
        self._parked = [entry for entry in self._parked if self._turns.must_wait(*entry[:2])]
        while self.flow.ready:
            entry = self.flow.take()
            if entry[3] or not self._turns.must_wait(*entry[:2]):
                return entry
            self._parked.append(entry)
        if self._parked:  # uses that only other writes let run: give way to the oldest
            oldest = min(self._parked, key=self.flow.key)
            self._parked.remove(oldest)
            return oldest
        if self._met:
            self._run_concurrently(list(self._met))
            return self._next()
        return None

    def _end(self, entry: tuple, outputs: list[Value]) -> None:
        iteration, node, _, dead = entry
        for position in self._owner.wanted.get(node, ()):
            value = outputs[self._owner.outputs[position]]
            if value is DEAD or (position in self.found and KINDS.get(node.type) == "Exit"):
                continue
            if position in self.found:
                raise errors.InternalError(node.op.node_def, node.op, f"Retval[{position}] has already been set.")
            self.found[position] = value
        self.flow.pass_on(iteration, node, outputs, dead)

    def _meet(self, entry: tuple) -> None:
        """Let a node wait for those that run at the same time, which a branch may have left out."""
        iteration, node, _, _ = entry
        self._met[node] = entry
        others = self._turns.concurrent[node]
        if all(n in self._met or n in iteration.done for n in others):
            self._run_concurrently([n for n in others if n in self._met])

    def _run_concurrently(self, nodes: list[Node]) -> None:
        nodes.sort(key=self._turns.place)
        entries = [self._met.pop(node) for node in nodes]
        ends = concurrently(self.step, *(lambda e=e: self._owner.call(e[1], e[2].values, self) for e in entries))
        for end in ends:
            end.check()
        for entry, end in zip(entries, ends, strict=True):
            self._end(entry, end.result)


class _Call:
    """How one node computes its outputs from the values it is given."""

    def __init__(self, node: Node, session: SessionState, copying: bool, exposed: bool) -> None:
        self._node = node
        self._copies = copying and not shows(node)
        # Results that share a variable's memory must be copied: they are of this time.
        self._exposed = exposed and not shows(node)
        self._kept = None
        self._binding = None
        self._wants_ref = [True] * len(node.inputs)
        device = "cpu" if node.type in (FEED, "Const") else torch_device(node.device)
        self._move = mover(device) if torch.cuda.is_available() or device != "cpu" else None
        try:
            if is_once(node):
                self._kept = [once_value(node, session)]
            elif node.type == "Const":
                self._kept = [constant_value(node, session)]
            elif node.type != FEED and node.type not in KINDS and not passes(node) and node.type not in PLACEHOLDERS:
                self._binding = bind(node, session)
                counts = input_counts(node) if node.definition is not None else [(None, 1)] * len(node.inputs)
                self._wants_ref = [
                    argument is not None and argument.is_ref for argument, count in counts for _ in range(count)
                ]
        except errors.OpError as e:
            raise refused(e, node) from None

    def __call__(self, values: list[Value], run: _Run) -> list[Value]:
        node = self._node
        if self._kept is not None:
            return [_copy(v) for v in self._kept] if self._copies else self._kept
        if node.type == FEED:
            return [run.feeds[node.value]]
        if node.type in PLACEHOLDERS:
            raise unfed(node)
        if node.type in KINDS or passes(node):
            return self._pass(values)
        values = [
            v if wants or not is_ref(*e) else _read(v)
            for v, wants, e in zip(values, self._wants_ref, node.inputs, strict=True)
        ]
        if self._binding is None:
            raise missing_kernel(node)
        if self._move is not None:
            values = [self._move(v) for v in values]
        if self._copies:
            values = [_copy(v) for v in values]
        step = {"step": run.step} if self._binding.takes_step else {}
        result = self._binding.function(*call_arguments(node, list(values)), **self._binding.keywords, **step)
        outputs = self._flat(result)
        if self._move is not None:
            outputs = [self._move(v) for v in outputs]
        if self._copies:
            return [_copy(v) for v in outputs]
        if self._exposed:
            given = {_memory(v) for v in values} - {None}
            return [_copy(v) if _memory(v) in given else v for v in outputs]
        return outputs

    def _pass(self, values: list[Value]) -> list[Value]:
        """What nodes that compute nothing give: their input, on one of two ways for a Switch."""
        node = self._node
        if not node.output_dtypes:
            return []
        value = values[0]
        if is_ref(*node.inputs[0]) and not is_ref(node, 0):
            value = _read(value)
        if KINDS.get(node.type) != "Switch":
            return [value]
        predicate = _read(values[1]) if is_ref(*node.inputs[1]) else values[1]
        return [DEAD, value] if bool(predicate) else [value, DEAD]

    def _flat(self, result: Value) -> list[Value]:
        if self._node.definition is not None:
            return flat_results(self._node, result)
        count = len(self._node.output_dtypes)
        return list(result) if count > 1 else [result][:count]


def _read(ref: Ref) -> Value:
    """The value behind a reference."""
    if ref.value is None:
        raise uninitialized(ref)
    return ref.value


def _copy(value: Value) -> Value:
    """A kernel value in memory of its own; objects that are no arrays are shared."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value


def _memory(value: Value) -> int | None:
    """What tells whether two values share memory."""
    value = getattr(value, "value", value)
    if isinstance(value, torch.Tensor):
        return value.untyped_storage().data_ptr() if value.numel() else None
    return id(value) if isinstance(value, np.ndarray) else None
