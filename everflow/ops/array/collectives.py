"""Nodes by which devices exchange tensors: TensorFlow's `collective_ops` and `nccl_ops`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from everflow.framework import raw_ops as raw
from everflow.framework.dtypes import DType, as_dtype
from everflow.framework.operation import Operation, Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import device
from everflow.framework.shapes import TensorShape

_sums = itertools.count()


def _check(name: str, group_size: int, tensor: Tensor | None = None) -> None:
    if group_size <= 1:
        raise ValueError(f"{name} is for a group of 2 at least, not of {group_size}")
    if tensor is not None and not tensor.device:
        raise ValueError(f"{name} needs to know where {tensor.name} is: make it in a tf.device")


def all_reduce(
    t: Tensor,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Sequence[int] = (0,),
    communication_hint: str = "auto",
) -> Tensor:
    """What a group makes of its tensors together, for each of its members."""
    _check("all_reduce", group_size, t)
    return raw.CollectiveReduce(
        input=t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint.lower(),
    )


def all_gather(
    t: Tensor, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Tensor:
    """The tensors of a group one after the other, for each of its members."""
    _check("all_gather", group_size, t)
    return raw.CollectiveGather(
        input=t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        shape=[0],
        communication_hint=communication_hint.lower(),
    )


def broadcast_send(
    t: Tensor,
    shape: Sequence[int],
    dtype: DType,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Send a tensor to the others of a group."""
    _check("broadcast_send", group_size, t)
    if t.shape != TensorShape(shape) or t.dtype != as_dtype(dtype):
        raise ValueError(f"{t} is to be sent as {as_dtype(dtype).name} of shape {TensorShape(shape)}")
    return raw.CollectiveBcastSend(
        input=t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        shape=shape,
        communication_hint=communication_hint.lower(),
    )


def broadcast_recv(
    shape: Sequence[int],
    dtype: DType,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Get the tensor that one of a group sends."""
    _check("broadcast_recv", group_size)
    return raw.CollectiveBcastRecv(
        T=dtype,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        shape=shape,
        communication_hint=communication_hint.lower(),
    )


def _assert_placed(tensor: Tensor) -> None:
    if not tensor.device:
        raise ValueError(f"It must be known where {tensor.name} is: make it in a tf.device")


def _all_reduced(reduction: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    if not tensors:
        raise ValueError("There must be one tensor at least to put together")
    shared_name, made = f"c{next(_sums)}", []
    for tensor in tensors:
        _assert_placed(tensor)
        with device(tensor.device):
            options = {"reduction": reduction, "num_devices": len(tensors), "shared_name": shared_name}
            made.append(raw.NcclAllReduce(input=tensor, **options))
    return made


def all_sum(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The sum of tensors of several devices, on each of these."""
    return _all_reduced("sum", tensors)


def all_prod(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The product of tensors of several devices, on each of these."""
    return _all_reduced("prod", tensors)


def all_min(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The least values of tensors of several devices, on each of these."""
    return _all_reduced("min", tensors)


def all_max(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The largest values of tensors of several devices, on each of these."""
    return _all_reduced("max", tensors)


def reduce_sum(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of tensors of several devices, on the device of the scope, where one of them must be."""
    if not tensors:
        raise ValueError("There must be one tensor at least to put together")
    for tensor in tensors:
        _assert_placed(tensor)
    result = raw.NcclReduce(input=list(tensors), reduction="sum")
    if not any(tensor.device == result.device for tensor in tensors):
        raise ValueError("One of the tensors must be on the device that gets their sum")
    return result


def broadcast(tensor: Tensor) -> Tensor:
    """A tensor of one device for others to take."""
    _assert_placed(tensor)
    with device(tensor.device):
        return raw.NcclBroadcast(input=tensor, shape=tensor.shape)


@shape_rule("CollectiveReduce", "NcclAllReduce", "NcclReduce")
def _same_shape(op: Operation) -> TensorShape:
    return op.inputs[0].shape


@shape_rule("CollectiveGather")
def _gathered_shape(op: Operation) -> TensorShape:
    shape = op.inputs[0].shape.with_rank_at_least(1)
    if shape.ndims is None:
        return shape
    # An op that declares nothing joins what may have more rows elsewhere.
    rows = shape.dims[0].value if op.attrs["shape"].ndims is not None else None
    return TensorShape([None if rows is None else rows * op.attrs["group_size"]]).concatenate(shape[1:])


@shape_rule("CollectiveBcastSend", "CollectiveBcastRecv")
def _declared_shape(op: Operation) -> TensorShape:
    return op.attrs["shape"]
