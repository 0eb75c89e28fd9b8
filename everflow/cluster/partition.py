"""Cuts a run over the tasks of a cluster: a GraphDef for each, with `_Send` and `_Recv` where an edge went from one to
another.

All parts keep one common order of nodes. Each task runs its part in that order and sends never wait, so the first node
that has not run can always run: no two tasks wait for each other. A value sent from inside a branch or loop must be
received in the same branch or loop: the receiving part is given the branch's predicate, or a loop that goes round as
often as the original.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.cluster import edges
from everflow.framework import dtypes, errors
from everflow.framework.attributes import to_proto
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import TensorValue
from everflow.kernels.facts import Waits
from everflow.protos import graph_pb2, node_def_pb2
from everflow.runtime.plan.control_flow import (
    CONTROL_FLOW,
    DEAD,
    EXIT,
    ControlFlow,
    Unstructured,
    is_loop_switch,
    predicate_of,
)
from everflow.runtime.plan.program import FEED, Node, is_ref
from everflow.runtime.plan.prune import NEXT, Pruned
from everflow.runtime.plan.schedule import flattened, schedule, variable_accesses

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.operation import Operation, Tensor
    from everflow.runtime.plan.control_flow import Guard, Path
    from everflow.runtime.plan.program import Edge

_NOTHING = TensorValue(np.zeros([0], np.float32))


@dataclass(slots=True)
class Part:
    """What one task does in a run."""

    graph_def: graph_pb2.GraphDef = field(default_factory=graph_pb2.GraphDef)
    feeds: dict[str, str] = field(default_factory=dict)  # tensor name → rendezvous key
    fetches: dict[str, str] = field(default_factory=dict)


def task_of(device: str) -> str:
    """The task that a device's full name belongs to."""
    return device.rpartition("/device:")[0]


def partition(
    pruned: Pruned,
    feeds: list[Tensor],
    device_of: Callable[[Operation], str],
    incarnations: dict[str, int],
    graph: Graph,
    here: str,
) -> dict[str, Part]:
    """Task name → its part of a pruned graph, which was made for `feeds` (tensors) and whose nodes `device_of(op)` has
    placed.

    `here` is the task of the master.
    """
    try:
        flow = ControlFlow(pruned)
        schedule(pruned, flow)
    except Unstructured as e:
        raise errors.UnimplementedError(None, None, f"This graph can't be cut over tasks: {e}") from None
    return _Cutter(pruned, feeds, flow, flattened(flow.items), device_of, incarnations, here).cut(graph)


class _Cutter:
    def __init__(
        self,
        pruned: Pruned,
        feeds: list[Tensor],
        flow: ControlFlow,
        order: list[Node],
        device_of: Callable[[Operation], str],
        incarnations: dict[str, int],
        here: str,
    ) -> None:
        self.pruned = pruned
        self.feeds = feeds
        self.flow = flow
        self.order = [n for n in order if n.type != FEED]
        self.levels: dict[Node, int] = {}
        self.incarnations = incarnations
        self.devices = {n: device_of(n.op) for n in self.order}
        for node in self.order:
            for source, output in node.inputs:
                if source.type in NEXT:  # a loop's value goes round where the loop variable is
                    self.devices[source] = self.devices[node]
                elif node.type in EXIT:  # and leaves it there
                    self.devices[node] = self.devices[source]
                # A variable is read where it is, when its reader says.
                elif node.type == "Identity" and is_ref(source, output):
                    self.devices[node] = self.devices[source]
        self.tasks = {n: task_of(device) for n, device in self.devices.items()}
        if not any(n.type in CONTROL_FLOW or n.type == "MutexLock" for n in self.order):
            self.find_levels()
            self.order.sort(key=self.levels.__getitem__)
        self.first_device: dict[str, str] = {}
        for name in incarnations:
            self.first_device.setdefault(task_of(name), name)
        self.parts: dict[str, Part] = {}
        self.wanted: dict[tuple[Node, int], dict[str, None]] = {}  # edge → tasks that need its value and don't have it
        self.awaited: dict[Node, dict[str, None]] = {}  # node → tasks that need to know that it ran
        self.names: dict[Any, Any] = {}  # (task, edge, node or what was made for it) → node or tensor name
        self.serial = 0
        # A variable that is fetched from another task shows what it was before the run changed it, as its value is sent
        # at once.
        fetched = [f for f in pruned.fetches if isinstance(f, tuple) and f[0].type != FEED]
        self.sent_at_once = {f for f in fetched if is_ref(*f) and self.tasks[f[0]] != here}

    def cut(self, graph: Graph) -> dict[str, Part]:
        for node in self.order:
            task = self.tasks[node]
            for edge in node.inputs:
                self.want(edge, task)
            for control in node.controls:
                self.want_end_of(control, task)
        for node in self.order:
            self.add_original(node)
            for output in range(len(node.output_dtypes)):
                if (node, output) in self.sent_at_once:
                    self.copy((node, output))
                for task in self.wanted.get((node, output), ()):
                    self.send((node, output), task)
            for task in self.awaited.get(node, ()):
                self.send_signal(node, task)
        for fetch in self.pruned.fetches:
            if isinstance(fetch, tuple) and fetch[0].type != FEED:
                self.fetch(fetch)
        for part in self.parts.values():
            part.graph_def.versions.CopyFrom(graph.graph_def_versions)
            for function in graph._functions.values():
                part.graph_def.library.function.append(function.definition)
                if function.gradient_name:
                    part.graph_def.library.gradient.add(
                        function_name=function.name, gradient_func=function.gradient_name
                    )
        return self.parts

    def find_levels(self) -> None:
        """Give each node the number of moves between tasks that lie behind it.

        In the order of levels, a task sends all it can before it waits for anything, so values of one level are there
        at the same time. What the schedule has put in order for a variable, or for a queue, stays so.
        """
        accesses = variable_accesses(self.pruned.nodes)
        written, used = _by_node(accesses.writers), _by_node(accesses.users)
        last_write: dict[Node, int] = {}
        last_use: dict[Node, int] = {}
        put = 0
        for node in self.order:
            moves = [
                self.levels[s] + (not self.is_here((s, o), self.tasks[node])) for s, o in node.inputs if s.type != FEED
            ]
            moves += [self.levels[c] + (self.tasks[c] != self.tasks[node]) for c in node.controls if c.type != FEED]
            moves += [max(last_use.get(v, 0), last_write.get(v, 0)) for v in written.get(node, ())]
            moves += [last_write.get(v, 0) for v in used.get(node, ())]
            level = self.levels[node] = max(moves + [put * (node.facts.waits is Waits.TAKES)], default=0)
            last_write.update((v, max(level, last_write.get(v, 0))) for v in written.get(node, ()))
            last_use.update((v, max(level, last_use.get(v, 0))) for v in used.get(node, ()))
            if node.facts.waits is Waits.PUTS:
                put = max(put, level)

    # --- what has to move --------------------------------------------------------------------

    def plain(self, edge: Edge) -> Edge:
        """The edge to take in place of one: predicates without the copies that branches make of them, so that each is
        sent once.
        """
        return edge if edge[0].output_dtypes[edge[1]] is not dtypes.bool else predicate_of(edge)

    def is_here(self, edge: Edge, task: str) -> bool:
        node = edge[0]
        return node.type == FEED or self.tasks.get(node) == task or (node.type == "Const" and not node.controls)

    def want(self, edge: Edge, task: str) -> None:
        """Note that a task needs a value, and what it needs to receive it at the right time."""
        if not self.is_here(edge, task):
            edge = self.plain(edge)
        node, output = edge
        if self.is_here(edge, task) or task in self.wanted.get(edge, ()):
            return
        if node.type == "LoopCond":
            self.want_loop(self.flow.frame(node), task)
            return
        if self.flow.edge_guard(edge) is DEAD:
            text = f"{node.name} can never run, for it needs both sides of a branch; {task} would wait for it for ever"
            raise errors.UnimplementedError(node.op.node_def, node.op, text)
        dtype = node.output_dtypes[output].base_dtype
        if dtype in (dtypes.resource, dtypes.variant):
            text = f"{node.name}:{output} is a {dtype.name}, which can't move from {self.tasks[node]} to {task}"
            raise errors.InvalidArgumentError(node.op.node_def, node.op, text)
        self.wanted.setdefault(edge, {})[task] = None
        self.want_context(self.flow.edge_guard(edge), self.frame(node), task)

    def want_end_of(self, node: Node, task: str) -> None:
        if node.type == FEED or self.tasks[node] == task or task in self.awaited.get(node, ()):
            return
        self.awaited.setdefault(node, {})[task] = None
        self.want_context(self.flow.guard(node), self.frame(node), task)

    def want_context(self, guard: Guard, frame: Path, task: str) -> None:
        for predicate, _ in guard or ():
            self.want(predicate, task)
        if frame:
            self.want_loop(frame, task)

    def want_loop(self, path: Path, task: str) -> None:
        loop = self.flow.frames[path]
        condition = loop.predicate[0]
        decided = condition.inputs[0]
        if self.tasks[condition] != task and not self.is_here(decided, task):
            self.wanted.setdefault(decided, {})[task] = None
            self.want_context(self.flow.edge_guard(decided), (), task)
        self.want_context(loop.guard, path[:-1], task)

    # --- nodes -------------------------------------------------------------------------------

    def part(self, task: str) -> Part:
        return self.parts.setdefault(task, Part())

    def add(self, task: str, op: str, name: str, inputs: list[str], **attrs: Any) -> str:
        """Add a node of ours to a part; gives its name."""
        node = node_def_pb2.NodeDef(op=op, name=name, input=inputs, device=self.first_device[task])
        for key, value in attrs.items():
            node.attr[key].CopyFrom(to_proto(value))
        self.part(task).graph_def.node.append(node)
        return name

    def new_name(self, like: str) -> str:
        """A name that no node of the user's has: those never have a part that begins with an underscore and a number."""
        self.serial += 1
        return f"{like}/_{self.serial}"

    def add_original(self, node: Node) -> None:
        task = self.tasks[node]
        made = node_def_pb2.NodeDef()
        made.CopyFrom(node.op.node_def)
        del made.input[:]
        made.input.extend(self.input_name(edge, task) for edge in node.inputs)
        made.input.extend(f"^{self.signal_name(c, task)}" for c in node.controls if c.type != FEED)
        made.device = self.devices[node]
        made.attr.pop("_class", None)  # the others may be elsewhere; everything has its place already
        self.part(task).graph_def.node.append(made)

    def input_name(self, edge: Edge, task: str) -> str:
        if not self.is_here(edge, task):
            edge = self.plain(edge)
        node, output = edge
        if self.tasks.get(node) == task and node.type != FEED:
            return f"{node.name}:{output}" if output else node.name
        key = (task, node, output)
        if key not in self.names:
            if node.type == FEED:
                self.names[key] = self.receive_feed(edge, task)
            elif node.type == "Const" and not node.controls:
                self.names[key] = self.copy_constant(node, task)
            elif node.type == "LoopCond":
                self.names[key] = self.loop(self.flow.frame(node), task).condition
            else:
                self.names[key] = self.receive(edge, task)
        return self.names[key]

    def copy(self, edge: Edge) -> None:
        """Let a fetch take the value that a variable has at this point."""
        node, output = edge
        source = f"{node.name}:{output}" if output else node.name
        name = self.add(
            self.tasks[node], "DeepCopy", self.new_name(node.name), [source], T=node.output_dtypes[output].base_dtype
        )
        self.names["fetch", node, output] = name

    def copy_constant(self, node: Node, task: str) -> str:
        made = node_def_pb2.NodeDef()
        made.CopyFrom(node.op.node_def)
        made.device = self.first_device[task]
        made.attr.pop("_class", None)
        self.part(task).graph_def.node.append(made)
        return node.name

    def tensor_name(self, edge: Edge) -> str:
        node, output = edge
        return self.feeds[node.value].name if node.type == FEED else f"{node.name}:{output}"

    def ends(self, sender: str, receiver: str) -> tuple[str, int, str]:
        return sender, self.incarnations[sender], receiver

    def send(self, edge: Edge, task: str) -> None:
        node, output = edge
        source = self.tasks[node]
        ends = self.ends(self.devices[node], self.first_device[task])
        made = edges.end_node(
            edges.SEND, self.new_name(node.name), node.output_dtypes[output], self.tensor_name(edge), ends, False
        )
        made.input.append(self.input_name(edge, source))
        self.part(source).graph_def.node.append(made)

    def receive(self, edge: Edge, task: str, controls: list[str] | None = None) -> str:
        node, output = edge
        ends = self.ends(self.devices[node], self.first_device[task])
        if controls is None:
            goes_round = (is_loop_switch(node) and output == 1) or self.in_body(node)
            controls = self.context(self.flow.edge_guard(edge), self.frame(node), goes_round, task)
            if (task, node, output) in self.names:  # the loop that it is in needed it too
                return self.names[task, node, output]
        shape = node.output_shapes[output] or TensorShape(None)
        name = self.new_name(node.name)
        level = self.levels.get(node, -1)
        made = edges.end_node(
            edges.RECV, name, node.output_dtypes[output], self.tensor_name(edge), ends, False, shape, level
        )
        made.input.extend(f"^{c}" for c in controls)
        self.part(task).graph_def.node.append(made)
        return name

    def send_signal(self, node: Node, task: str) -> None:
        """Tell a task that a node has run: a value that says nothing but that."""
        source = self.tasks[node]
        word = self.add(source, "Const", self.new_name(node.name), [], dtype=dtypes.float32, value=_NOTHING)
        ends = self.ends(self.devices[node], self.first_device[task])
        made = edges.end_node(edges.SEND, self.new_name(node.name), dtypes.float32, f"^{node.name}", ends, False)
        made.input.extend([word, f"^{node.name}"])
        self.part(source).graph_def.node.append(made)

    def signal_name(self, node: Node, task: str) -> str:
        if self.tasks[node] == task:
            return node.name
        key = (task, node)
        if key not in self.names:
            ends = self.ends(self.devices[node], self.first_device[task])
            name = self.new_name(node.name)
            made = edges.end_node(
                edges.RECV,
                name,
                dtypes.float32,
                f"^{node.name}",
                ends,
                False,
                TensorShape([0]),
                self.levels.get(node, -1),
            )
            made.input.extend(
                f"^{c}" for c in self.context(self.flow.guard(node), self.frame(node), self.in_body(node), task)
            )
            self.part(task).graph_def.node.append(made)
            self.names[key] = name
        return self.names[key]

    def receive_feed(self, edge: Edge, task: str) -> str:
        node, tensor_name = edge[0], self.tensor_name(edge)
        device = self.first_device[task]
        ends = self.ends(device, device)
        name = self.new_name(node.name)
        made = edges.end_node(edges.RECV, name, node.output_dtypes[0], tensor_name, ends, True, node.output_shapes[0])
        self.part(task).graph_def.node.append(made)
        self.part(task).feeds[tensor_name] = edges.rendezvous_key(*ends, tensor_name)
        return name

    def fetch(self, edge: Edge) -> None:
        node, output = edge
        if self.flow.guard(node) is DEAD:
            text = f"'{node.name}' needs both sides of a branch, so it never has a value"
            raise errors.InvalidArgumentError(node.op.node_def, node.op, text)
        task, tensor_name = self.tasks[node], self.tensor_name(edge)
        if tensor_name in self.part(task).fetches:
            return
        ends = self.ends(self.devices[node], self.devices[node])
        made = edges.end_node(edges.SEND, self.new_name(node.name), node.output_dtypes[output], tensor_name, ends, True)
        made.input.append(self.names.get(("fetch", node, output)) or self.input_name(edge, task))
        self.part(task).graph_def.node.append(made)
        self.part(task).fetches[tensor_name] = edges.rendezvous_key(*ends, tensor_name)

    # --- branches and loops on the receiving side --------------------------------------------

    def frame(self, node: Node) -> Path:
        """The frames that a node's results are in."""
        path = self.flow.frame(node)
        return path[:-1] if node.type in EXIT else path

    def in_body(self, node: Node) -> bool:
        """Whether a node runs only when the loop it is in goes round once more."""
        frame = self.frame(node)
        return bool(frame) and self.flow.owner(node, len(frame)) in self.flow.frames[frame].body

    def context(self, guard: Guard, frame: Path, in_body: bool, task: str) -> list[str]:
        """Nodes of a part that run exactly when something with this guard and frame runs."""
        controls = [self.pivot(predicate, taken, task) for predicate, taken in guard or ()]
        if frame:
            loop = self.loop(frame, task)
            controls.append(loop.body if in_body else loop.round)
        return controls

    def pivot(self, predicate: Edge, taken: bool, task: str) -> str:
        """A node that runs when the predicate is `taken`."""
        key = (task, "pivot", predicate, taken)
        if key not in self.names:
            value = self.input_name(predicate, task)
            like = predicate[0].name
            switch = self.add(task, "Switch", self.new_name(like), [value, value], T=dtypes.bool)
            self.names[key] = self.add(
                task, "Identity", self.new_name(like), [f"{switch}:1" if taken else switch], T=dtypes.bool
            )
        return self.names[key]

    def loop(self, path: Path, task: str) -> _Loop:
        """A loop in a part that goes round as often as the original."""
        key = (task, "loop", path)
        if key not in self.names:
            self.names[key] = self.make_loop(path, task)
        return self.names[key]

    def make_loop(self, path: Path, task: str) -> _Loop:
        original = self.flow.frames[path]
        condition = original.predicate[0]
        outer = path[:-1]
        in_body = bool(outer) and original in self.flow.frames[outer].body
        controls = [f"^{c}" for c in self.context(original.guard, outer, in_body, task)]
        like = condition.name
        start = self.add(task, "Const", self.new_name(like), [], dtype=dtypes.float32, value=_NOTHING)
        entry = self.add(
            task, "Enter", self.new_name(like), [start, *controls], T=dtypes.float32, frame_name=path[-1].encode(), is_constant=False,
            parallel_iterations=1,
        )  # fmt: skip
        following = self.new_name(like)
        turn = self.add(task, "Merge", self.new_name(like), [entry, following], T=dtypes.float32, N=2)
        if self.tasks[condition] == task:
            predicate = condition.name
        else:
            source = condition.inputs[0]
            if self.is_here(source, task):  # what it decides by is computed here
                value = self.input_name(source, task)
            else:
                value = self.names[task, source[0], source[1]] = self.receive(source, task, [turn])
            predicate = self.add(task, "LoopCond", self.new_name(like), [value])
        switch = self.add(task, "Switch", self.new_name(like), [turn, predicate], T=dtypes.float32)
        body = self.add(task, "Identity", self.new_name(like), [f"{switch}:1"], T=dtypes.float32)
        self.add(task, "NextIteration", following, [body], T=dtypes.float32)
        return _Loop(predicate, turn, body)


@dataclass(frozen=True, slots=True)
class _Loop:
    """Nodes of a loop that keeps time with one on another task: its condition, one that runs each time it is asked, one
    for each round.
    """

    condition: str
    round: str
    body: str


def _by_node(accesses: dict[Node, list[Node]]) -> dict[Node, list[Node]]:
    """Node → the variables it accesses, from variable → nodes."""
    found: dict[Node, list[Node]] = {}
    for variable, nodes in accesses.items():
        for node in nodes:
            found.setdefault(node, []).append(variable)
    return found
