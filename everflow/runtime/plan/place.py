"""A device for every node.

A session places its whole graph, also what no run needs, so that a node that fits nowhere fails every run, as in
TensorFlow 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from everflow.framework import dtypes, errors
from everflow.framework.devices import DeviceSpec

if TYPE_CHECKING:
    from everflow.framework.operation import Operation
    from everflow.runtime.plan.prune import Pruned

_COLOCATION = b"loc:@"
# What is inside of these may be on several devices: they go where the first of their variables is, and don't join
# those. Within a task handles come to where a call was put.
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class Placer:
    """Gives operations of a graph a device of the session's; goes on where it stopped when the graph has grown."""

    def __init__(self, devices: list[str], *, soft: bool = False, log: bool = False) -> None:
        self._devices = devices
        self._specs = [DeviceSpec.from_string(name) for name in devices]
        self._soft = soft
        self._log = log
        self._placed: dict[Operation, str] = {}  # Operation → device name

    def device_of(self, op: Operation) -> str:
        """The device of an operation that was placed; the first CPU for one that was not."""
        return self._placed.get(op, self._devices[0])

    def place(self, ops: Iterable[Operation]) -> None:
        """Place these operations, given that those they depend on are among them or placed."""
        new = [op for op in ops if op not in self._placed]
        groups = _Groups(new, self._placed, len({name.rpartition("/device:")[0] for name in self._devices}) == 1)
        chosen: dict[Operation, str] = {}
        for group in groups.members():
            device = self._choose_for(group, groups.followers)
            for op in group:
                chosen[op] = device
        self._placed.update(chosen)
        for group in groups.members():
            if len(group) == 1 and _is_generator(group[0]):
                self._placed[group[0]] = chosen[group[0]] = self._beside_readers(group[0])
        if self._log:
            for op in sorted(new, key=_is_generator):  # TensorFlow places these last, next to what reads them
                print(f"{op.name}: ({op.type}): {chosen[op]}")

    def _choose_for(self, group: list[Operation], followers: set[Operation]) -> str:
        asked = DeviceSpec()
        for op in sorted(group, key=followers.__contains__):
            if op.device:
                wanted = DeviceSpec.from_string(op.device)
                if len(group) > 1 and _conflict(asked, wanted):
                    if self._soft or op in followers:
                        continue
                    raise errors.InvalidArgumentError(
                        op.node_def,
                        op,
                        f"Cannot colocate nodes {_node_text(op)} and {_node_text(group[0])} because no device satisfies both "
                        f"'{op.device}' and '{asked.to_string()}'.",
                    )
                asked.merge_from(wanted)
        already = [self._placed[op] for op in group if op in self._placed]
        if already:
            return already[0]
        found = self._matching(asked)
        if not found and self._soft:
            found = self._matching(DeviceSpec(job=asked.job, replica=asked.replica, task=asked.task))
        if not found:
            op = next(o for o in group if o.device)
            text = f"Cannot assign a device for operation {op.name}: {_node_text(op)} was explicitly assigned to {op.device}"
            text += f" but available devices are [ {', '.join(self._devices)} ]."
            text += " Make sure the device specification refers to a valid device."
            if asked.device_type == "GPU":
                text += " torch sees no such GPU on this machine."
            raise errors.InvalidArgumentError(op.node_def, op, text)
        if asked.device_type or any(_host_only(op) for op in group):
            return found[0]
        task = found[0].rpartition("/device:")[0]
        return max((name for name in found if name.startswith(f"{task}/")), key=lambda name: ":GPU:" in name)

    def _beside_readers(self, op: Operation) -> str:
        """Where all are that take what an operation makes of nothing, if it may be there; else where it is."""
        readers = {self._placed.get(reader) for reader in op.outputs[0].consumers()}
        found = readers.pop() if len(readers) == 1 else None
        return found if found in self._matching(DeviceSpec.from_string(op.device or "")) else self._placed[op]

    def _matching(self, asked: DeviceSpec) -> list[str]:
        return [name for name, spec in zip(self._devices, self._specs, strict=True) if not _conflict(asked, spec)]


def _host_only(op: Operation) -> bool:
    """Text, handles and small integers (shapes, indices) stay with the CPU unless a device was asked for."""
    return any(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in op.outputs) or not op.outputs


def _conflict(one: DeviceSpec, other: DeviceSpec) -> bool:
    return any(a is not None and b is not None and a != b for a, b in zip(one._parts(), other._parts(), strict=True))


def _node_text(op: Operation) -> str:
    frame = op.user_frame
    return f"node {op.name} (defined at {frame[0]}:{frame[1]}) " if frame else f"node {op.name}"


def _is_generator(op: Operation) -> bool:
    """Whether an operation makes one value of nothing, as constants, placeholders and handles are made."""
    return not op.inputs and len(op.outputs) == 1 and not op.outputs[0].dtype._is_ref_dtype


class _Groups:
    """Operations that must share a device: by `_class` attributes and by edges that carry references."""

    def __init__(self, ops: Iterable[Operation], placed: dict[Operation, str], is_one_task: bool) -> None:
        self._ops = ops
        self._new = set(ops)
        self._placed = placed
        self._parent: dict[Operation, Operation] = {}
        self._absent: dict[str, Operation] = {}
        # They use a variable or handle, so they go where it is, whatever they ask for.
        self.followers: set[Operation] = set()
        for op in ops:
            for group in op.attrs.get("_class", ()):
                if group.startswith(_COLOCATION):
                    self._join(op, self._named(op, group[len(_COLOCATION) :].decode()))
            for tensor in op.inputs:
                if tensor.dtype._is_ref_dtype and any(t.dtype._is_ref_dtype for t in op.outputs):
                    self._follow(op, tensor.op)
                elif tensor.dtype is dtypes.resource and not (is_one_task and op.type in _CALLS and op.device):
                    self._follow(op, tensor.op)
                    if op.type in _CALLS:
                        break
            if op.type == "Switch":  # decides about a value where that is, as in TensorFlow
                self._follow(op, op.inputs[0].op)

    def _named(self, op: Operation, name: str) -> Operation:
        """The operation of that name; where the graph has none, as after a failed `get_variable`, the first that asked
        for it.
        """
        try:
            return op.graph.get_operation_by_name(name)
        except KeyError:
            return self._absent.setdefault(name, op)

    def _root(self, op: Operation) -> Operation:
        while op in self._parent:
            op = self._parent[op]
        return op

    def _follow(self, op: Operation, holder: Operation) -> None:
        self.followers.add(op)
        self._join(op, holder)

    def _join(self, a: Operation, b: Operation) -> None:
        if b not in self._new and b not in self._placed:  # a pruned graph looks at nothing else
            return
        a, b = self._root(a), self._root(b)
        if a is not b:
            self._parent[a] = b

    def members(self) -> list[list]:
        found: dict = {}
        for op in self._ops:
            root = self._root(op)
            found.setdefault(root, [root]).append(op)
        return [list(dict.fromkeys(group)) for group in found.values()]


def place(pruned: Pruned, placer: Placer) -> None:
    """Write the devices into the nodes of a pruned graph."""
    for node in pruned.nodes:
        node.device = placer.device_of(node.op)
