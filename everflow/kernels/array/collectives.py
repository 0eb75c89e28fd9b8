"""Collective ops: what a group of devices makes of the tensors of all its members.

A plan takes each apart (`runtime/plan/collectives.py`): it begins as soon as its input is there, and is waited for as
late as can be, so that tensors travel while others are computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from everflow.framework import errors
from everflow.kernels.exchange import BROADCAST, GATHER, REDUCE, Collective, Member, exchange_of
from everflow.kernels.facts import Effect, Waits
from everflow.kernels.registry import acting, kernel
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Step

_KINDS = {
    "CollectiveReduce": REDUCE,
    "CollectiveGather": GATHER,
    "CollectiveBcastSend": BROADCAST,
    "CollectiveBcastRecv": BROADCAST,
}


def _start(op_type: str, node: Node, step: Step, value: torch.Tensor | None) -> Member:
    attrs = node.attrs
    merge = attrs.get("merge_op", "Add")
    if merge not in ("Add", "Mul"):
        raise errors.InvalidArgumentError(None, None, f"merge_op must be Add or Mul, not {merge}")
    collective = Collective(
        _KINDS[op_type],
        attrs["group_key"],
        attrs["group_size"],
        attrs["instance_key"],
        merge,
        attrs.get("final_op") == "Div",
    )
    if value is None:
        value = torch.empty(attrs["shape"].as_list(), dtype=torch_dtype(attrs["T"]))
    exchange, name = exchange_of(step, collective.group_key, node.device)
    member = exchange.start(collective, name, value, op_type == "CollectiveBcastSend")
    step.locks.append(member)  # a run that fails takes back what it brought
    return member


def _result(member: Member, step: Step) -> torch.Tensor:
    result = member.wait(step)
    step.locks.remove(member)  # nothing is left to take back, and nobody else shall hold the result
    return result


@kernel("_CollectiveStart", keeps=(0,), effect=Effect.ACTS)
def collective_start(values: list[torch.Tensor], *, op_type: str, node: Node, step: Step) -> Member:
    return _start(op_type, node, step, values[0] if values else None)


@acting("_CollectiveWait", waits=Waits.OUTSIDE)
def collective_wait(member: Member, *, step: Step) -> torch.Tensor:
    return _result(member, step)


@acting("CollectiveReduce", "CollectiveGather", "CollectiveBcastSend", waits=Waits.OUTSIDE)
def collective(value: torch.Tensor, *, node: Node, step: Step) -> Any:
    return _result(_start(node.type, node, step, value), step)


@acting("CollectiveBcastRecv", waits=Waits.OUTSIDE)
def collective_recv(*, node: Node, step: Step) -> Any:
    return _result(_start(node.type, node, step, None), step)
