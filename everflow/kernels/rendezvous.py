"""The kernels of `_Send` and `_Recv`: values that leave for another task, and those that come from one.

Who carries them is the run's own affair: it has put an object with `send(name, value)` and `recv(name)`, which take a
node's name, into its container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everflow.kernels.facts import Waits
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    import torch

    from everflow.kernels.context import Node, Step

CARRIER = "rendezvous"


@kernel("_Send")
def send(tensor: torch.Tensor, *, node: Node, step: Step) -> None:
    step.container[CARRIER].send(node.name, tensor)


@kernel("_Recv", waits=Waits.OUTSIDE)
def recv(*, node: Node, step: Step) -> Any:
    return step.container[CARRIER].recv(node.name)
