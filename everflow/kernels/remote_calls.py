"""Functions that run on a device which is only named when they are called: `RemoteCall`.

A device of this task runs the function here; one of another task is reached through whoever serves the run, who has
put a `Caller` into its container. What belongs to a device may ask on which one it is called (`called_on`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from everflow.framework import errors
from everflow.framework.devices import DeviceSpecV2, canonical_name
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Strings, Value
    from everflow.protos.attr_value_pb2 import NameAttrList

# In the container of a run: the Caller that takes functions to other tasks. A run in one process has none.
CALLER = "remote functions"
_LOCAL = "/job:localhost/replica:0/task:0"


class Caller(Protocol):
    """Knows the tasks of a run."""

    task: str  # the one that this part of the run is on

    def call(self, device: str, f: NameAttrList, args: list[Value], node: Node, session: Session) -> list[Value]:
        """What a function gives on a device of another task."""
        ...


class _Place(threading.local):
    device = ""


_place = _Place()


def _complete(asked: str, task: str) -> str:
    """The name of a device with all its parts: this task's, and its first CPU, where one is left out."""
    spec = DeviceSpecV2.from_string(task).make_merged_spec(DeviceSpecV2.from_string(asked))
    return spec.replace(device_type=spec.device_type or "CPU", device_index=spec.device_index or 0).to_string()


def called_on(node: Node) -> str:
    """The device that a node runs on: that of the remote call it is part of, else its own; empty where none is said."""
    return _place.device or canonical_name(node.device)


@kernel("RemoteCall", threads_matter_from=0)
def remote_call(
    target: Strings, args: list[Value], *, f: NameAttrList, session: Session, step: Step, node: Node
) -> list[Value]:
    caller: Caller | None = step.container.get(CALLER)
    here = caller.task if caller is not None else _LOCAL
    device = _complete(target.item().decode(errors="replace"), here)
    if device.rpartition("/device:")[0] != here:
        if caller is None:
            raise errors.InternalError(None, None, f"{device} is not a device of this session: no function runs there")
        return caller.call(device, f, args, node, session)
    before, _place.device = _place.device, device
    try:
        return session.function(f)(*args, step=step)
    finally:
        _place.device = before
