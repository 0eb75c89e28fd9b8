"""A graph run token by token: what each Switch, Merge, Enter, Exit and NextIteration does as TensorFlow's executor
defines it.

Nothing is assumed of how these ops are put together, so it runs any graph; compiled plans are for those that hold while
loops and branches.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from everflow.framework import errors
from everflow.runtime.plan.program import Node
from everflow.runtime.plan.prune import Pruned

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.control_flow import Path

DEAD = object()  # the token of a value that is not there: its branch was not taken
KINDS = {
    prefix + kind: kind for kind in ("Switch", "Merge", "Enter", "Exit", "NextIteration") for prefix in ("", "Ref")
}


class Layout:
    """What is known of a program before it runs: where each node's results go, and in which nest of frames it runs."""

    def __init__(self, program: Pruned) -> None:
        self.program = program
        self.path: dict[
            Node, tuple[str, ...]
        ] = {}  # names of the frames around a node; an Enter runs outside its frame, an Exit inside
        self.nodes: list[Node] = []
        for node in program.nodes:
            self._place(node)
        self.users: dict[Node, list[tuple[Node, int | None, int]]] = {
            node: [] for node in self.nodes
        }  # (user, input, output); input None: waits
        for node in self.nodes:
            for position, (source, output) in enumerate(node.inputs):
                self.users[source].append((node, position, output))
            for control in node.controls:
                self.users[control].append((node, None, 0))
        self.enters = Counter(self.leads_to(node) for node in self.nodes if KINDS.get(node.type) == "Enter")

    def _place(self, node: Node) -> None:
        # A loop's back edge comes from a node that is still to come.
        paths = [self.leads_to(s) for s in [n for n, _ in node.inputs] + node.controls if s in self.path]
        path = max(paths, key=len, default=())
        if KINDS.get(node.type) == "Exit" and not path:
            raise errors.InvalidArgumentError(
                node.op.node_def, node.op, f"{node.name!r} leaves a frame that nothing entered"
            )
        node.inputs = [self._entered(*edge, path, node) if edge[0] in self.path else edge for edge in node.inputs]
        node.controls = [self._entered(control, None, path, node)[0] for control in node.controls]
        self.path[node] = path
        self.nodes.append(node)

    def leads_to(self, node: Node) -> tuple[str, ...]:
        """The path of frames that a node's results are in."""
        kind = KINDS.get(node.type)
        path = self.path[node]
        return (*path, node.attribute("frame_name")) if kind == "Enter" else path[:-1] if kind == "Exit" else path

    def _entered(self, source: Node, output: int | None, path: Path, user: Node) -> tuple:
        """The edge that brings a value of an outer frame to where it is used: by Enters that the graph left out, as
        where a value in a loop is fed.
        """
        here = self.leads_to(source)
        if path[: len(here)] != here:
            text = f"{user.name!r} has inputs of different frames: {'/'.join(here)!r} and {'/'.join(path)!r}"
            raise errors.InvalidArgumentError(user.op.node_def, user.op, text)
        for name in path[len(here) :]:
            enter = Node(source.index, source.op, source.name, "Enter")
            enter.set_attributes({"frame_name": name, "is_constant": True})
            enter.controls = [source] if output is None else []
            if output is not None:
                enter.inputs, enter.output_dtypes, enter.output_shapes = (
                    [(source, output)],
                    [source.output_dtypes[output]],
                    [None],
                )
                output = 0
            self.path[enter] = here
            self.nodes.append(enter)
            source, here = enter, (*here, name)
        return source, output


class Frame:
    """A loop that runs: one for each time that its Enters are reached."""

    def __init__(self, path: Path, around: Iteration | None, entering: int) -> None:
        self.path = path
        self.around = around
        self.entering = entering  # Enters that have not brought their token yet
        self.constants: list = []  # (Enter, its outputs, whether dead): every iteration gets them
        self.iterations: dict[int, Iteration] = {}
        self.last = -1
        self.exits: set[Node] = set()  # that have given a value; they give one only
        self.dead_exits: list[Node] = []  # of the last iteration: a later one may give them a value


class Iteration:
    """One round of a frame."""

    def __init__(self, frame: Frame, number: int, key: tuple) -> None:
        self.frame = frame
        self.number = number
        self.key = key
        self.waiting: dict[Node, _Inputs] = {}
        self.begun: set[Node] = set()
        self.done: set = set()  # nodes, and paths of frames that came to their end
        self.frames: dict[tuple, Frame] = {}
        self.busy = 0  # nodes that may run, and frames that have not come to their end


def around(frame: Frame) -> Iteration:
    """The round of the loop outside in which a frame was entered."""
    if frame.around is None:
        raise ValueError("nothing is around the outermost frame")
    return frame.around


class _Inputs:
    """What has arrived for a node."""

    __slots__ = ("values", "missing", "dead", "live")

    def __init__(self, node: Node) -> None:
        self.values: list[Value] = [DEAD] * len(node.inputs)
        self.missing = len(node.controls) if KINDS.get(node.type) == "Merge" else len(node.inputs) + len(node.controls)
        self.dead = 0
        self.live: int | None = None  # Merge: which input came first


class Flow:
    """One run. `take` gives what may run next, and `pass_on` hands its results to whoever needs them."""

    def __init__(self, layout: Layout, place: Callable, check: Callable) -> None:
        self._layout = layout
        self._place = place  # of a node, or a frame's path, among those that are ready
        self._check = check  # raises when the run shall stop
        self._serial = itertools.count()
        self.ready: list = []
        root = Frame((), None, 0)
        start = self._add_iteration(root)
        for node in layout.nodes:
            if not node.inputs and not node.controls:
                self._queue(start, node, _Inputs(node), False)

    def take(self) -> tuple:
        """(iteration, node, inputs, whether dead) of the first node that may run."""
        return heapq.heappop(self.ready)[2:]

    def put_back(self, entry: tuple) -> None:
        """Let what was taken wait for another turn."""
        heapq.heappush(self.ready, (self.key(entry), next(self._serial), *entry))

    def key(self, entry: tuple) -> tuple:
        """Orders entries: earlier iterations first, within them by place."""
        return (*entry[0].key, self._place(entry[1]))

    def pass_on(self, iteration: Iteration, node: Node, outputs: list[Value], dead: bool) -> None:
        """Send a node's outputs on; `outputs` are DEAD where a Switch went the other way, and all are for a dead node."""
        kind, frame = KINDS.get(node.type), iteration.frame
        if kind == "Enter":
            self._enter(iteration, node, outputs, dead)
        elif kind == "NextIteration":
            if not dead:
                following = frame.iterations.get(iteration.number + 1) or self._add_iteration(frame)
                self._send(following, node, outputs, False)
        elif kind != "Exit":
            self._send(iteration, node, outputs, dead)
        elif node not in frame.exits:
            if not dead:
                frame.exits.add(node)
                self._send(around(frame), node, outputs, False)
            elif iteration.number == frame.last:
                frame.dead_exits.append(node)
        iteration.done.add(node)
        iteration.busy -= 1
        self._settle(frame)

    def _enter(self, iteration: Iteration, node: Node, outputs: list[Value], dead: bool) -> None:
        path = self._layout.leads_to(node)
        frame = iteration.frames.get(path)
        if frame is None:
            frame = iteration.frames[path] = Frame(path, iteration, self._layout.enters[path])
            iteration.busy += 1
            self._add_iteration(frame)
        frame.entering -= 1
        if node.attribute("is_constant"):
            frame.constants.append((node, outputs, dead))
            for inside in list(frame.iterations.values()):
                self._send(inside, node, outputs, dead)
        else:
            self._send(frame.iterations[0], node, outputs, dead)
        self._settle(frame)

    def _add_iteration(self, frame: Frame) -> Iteration:
        self._check()
        frame.last += 1
        frame.dead_exits.clear()
        outer = (*frame.around.key, self._place(frame.path)) if frame.around is not None else ()
        made = frame.iterations[frame.last] = Iteration(frame, frame.last, (*outer, frame.last))
        for constant in frame.constants:
            self._send(made, *constant)
        return made

    def _settle(self, frame: Frame) -> None:
        """Forget rounds in which nothing more can happen; a frame without any has come to its end, and its dead Exits
        are dead for good.
        """
        while frame.around is not None and not frame.entering and frame.iterations:
            first = min(frame.iterations)
            if frame.iterations[first].busy:
                return
            del frame.iterations[first]
            if not frame.iterations:
                around = frame.around
                for node in frame.dead_exits:
                    self._send(around, node, [DEAD], True)
                del around.frames[frame.path]
                around.done.add(frame.path)
                around.busy -= 1
                frame = around.frame

    def _send(self, iteration: Iteration, node: Node, outputs: list[Value], dead: bool) -> None:
        for user, position, output in self._layout.users[node]:
            token = (DEAD if dead else None) if position is None else outputs[output]
            self._receive(iteration, user, position, token, node)

    def _receive(self, iteration: Iteration, node: Node, position: int | None, token: Value, source: Node) -> None:
        if node in iteration.begun:  # a Merge that took an earlier token
            return
        state = iteration.waiting.get(node)
        if state is None:
            state = iteration.waiting[node] = _Inputs(node)
        is_merge = KINDS.get(node.type) == "Merge"
        if position is None or not is_merge:
            state.missing -= 1
        if position is not None and token is not DEAD and state.live is None:
            state.values[position] = token
            state.live = position if is_merge else None
        if not is_merge:
            state.dead += token is DEAD and node.type != "ControlTrigger"
            dead = state.dead > 0
            complete = True
        else:
            if position is not None and token is DEAD:
                # A loop whose first value is dead never runs: no other value will come.
                state.dead += len(node.inputs) if KINDS.get(source.type) == "Enter" else 1
            dead = state.live is None
            complete = not dead or state.dead >= len(node.inputs)
        if complete and not state.missing:
            del iteration.waiting[node]
            self._queue(iteration, node, state, dead)

    def _queue(self, iteration: Iteration, node: Node, state: _Inputs, dead: bool) -> None:
        iteration.begun.add(node)
        iteration.busy += 1
        self.put_back((iteration, node, state, dead))
