"""Which part of a program runs on which device, and how values move between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.protos import graph_pb2
from everflow.runtime.plan.program import FEED, Node

if TYPE_CHECKING:
    from everflow.runtime.hints import Value


def partition_graphs(devices: dict[str, list[Node]]) -> list[graph_pb2.GraphDef]:
    """One GraphDef for each device, of the nodes that a run needs, as `RunMetadata.partition_graphs` holds them.

    CPUs share their memory, so values move only between a CPU and an accelerator.
    """
    result = []
    for device, nodes in devices.items():
        graph_def = graph_pb2.GraphDef()
        for node in nodes:
            if node.type != FEED:
                node_def = graph_def.node.add()
                node_def.CopyFrom(node.op.node_def)
                node_def.device = device
        result.append(graph_def)
    return result


def torch_device(device: str) -> str:
    """The torch device behind a device name: "cpu", "cuda:1", "mps"."""
    if ":GPU:" not in device:
        return "cpu"
    return f"cuda:{device.rsplit(':', 1)[1]}" if torch.cuda.is_available() else "mps"


def mover(device: str) -> Callable[[Value], Value]:
    """A function that brings a kernel value to a torch device.

    Small integers stay where they are on the way to an accelerator: they are shapes and indices that kernels read on
    the CPU.
    """

    def move(value: Value) -> Value:
        if isinstance(value, (list, tuple)):
            return type(value)(move(v) for v in value)
        if not isinstance(value, torch.Tensor) or (value.dtype is torch.int32 and device != "cpu"):
            return value
        return value.to(device)

    return move
