"""The kernels of `_Send` and `_Recv`: values that leave for another task, and those that come from one.

Who carries them is the run's own affair: it has put an object with `send(attrs, value)` and `recv(attrs)` into its container.
"""

from __future__ import annotations

from everflow.kernels.facts import Waits
from everflow.kernels.registry import kernel

CARRIER = "rendezvous"


@kernel("_Send")
def send(tensor, *, node, step):
    step.container[CARRIER].send(node.attrs, tensor)


@kernel("_Recv", waits=Waits.OUTSIDE)
def recv(*, node, step):
    return step.container[CARRIER].recv(node.attrs)
