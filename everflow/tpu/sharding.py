"""Computations over shards: inputs split along an axis, a replica for each part, outputs joined again."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation
from everflow.ops import array
from everflow.tpu.replication import split_compile_and_replicate


def shard(
    computation,
    inputs=None,
    num_shards=1,
    input_shard_axes=None,
    outputs_from_all_shards=True,
    output_shard_axes=None,
    infeed_queue=None,
    device_assignment=None,
    name=None,
):
    """What a computation gives whose inputs are split over shards and whose outputs are joined."""
    return split_compile_and_shard(
        computation,
        inputs,
        num_shards,
        input_shard_axes,
        outputs_from_all_shards,
        output_shard_axes,
        infeed_queue,
        device_assignment,
        name,
    )[1]


def batch_parallel(computation, inputs=None, num_shards=1, infeed_queue=None, device_assignment=None, name=None):
    """`shard` along the first axis of everything."""
    return shard(
        computation, inputs, num_shards, infeed_queue=infeed_queue, device_assignment=device_assignment, name=name
    )


def split_compile_and_shard(
    computation,
    inputs=None,
    num_shards=1,
    input_shard_axes=None,
    outputs_from_all_shards=True,
    output_shard_axes=None,
    infeed_queue=None,
    device_assignment=None,
    name=None,
):
    """(the operation that compiles, what `shard` returns)."""
    if num_shards <= 0:
        raise ValueError(f"num_shards must be a positive integer, not {num_shards}.")
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, list):
        raise TypeError(f"The inputs of a sharded computation are a list, not {inputs!r}.")
    inputs = [convert_to_tensor(x) for x in inputs]
    axes = _for_each(input_shard_axes, 0, inputs, "input_shard_axes")
    if inputs:
        parts = [array.split(x, num_shards, axis=axis) for x, axis in zip(inputs, axes, strict=True)]
        replicas = [list(replica) for replica in zip(*parts, strict=True)]
    else:
        replicas = [[]] * num_shards
    compiled, outputs = split_compile_and_replicate(computation, replicas, infeed_queue, device_assignment, name)
    # Operations alone: the first shard's stands for all.
    if isinstance(outputs[0], Operation):
        return compiled, [outputs[0]]
    first = outputs[0]
    axes = _for_each(output_shard_axes, 0, first, "output_shard_axes")
    every = outputs_from_all_shards
    every = (
        [every] * len(first) if isinstance(every, bool) else _for_each(every, True, first, "outputs_from_all_shards")
    )
    joined = []
    for k, (axis, from_all) in enumerate(zip(axes, every, strict=True)):
        shards = [output[k] for output in outputs]
        joined.append(array.concat(shards, axis=axis) if from_all else shards[0])
    return compiled, joined


def _for_each(given, default, values, name):
    if given is None:
        return [default] * len(values)
    if len(given) != len(values):
        raise ValueError(f"{name} has {len(given)} entries for {len(values)} values.")
    return given
