"""Inputs of replicas padded to a common shape, with their true sizes as further inputs."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.array import constant
from everflow.ops.control_flow.conditionals import cond
from everflow.protos.dynamic_padding_pb2 import PaddingMap


def pad_inputs(inputs, maximum_shapes):
    """The inputs of each replica, padded where replicas may differ and followed by the sizes that they really have; and
    for each such size which dimension of which input it is.
    """
    shapes = [[array.shape(tensor) for tensor in replica] for replica in inputs]
    largest = [
        math.reduce_max(array.stack([replica[i] for replica in shapes]), axis=0) for i in range(len(maximum_shapes))
    ]
    varying = [_varying(tensors) for tensors in zip(*inputs, strict=True)]
    maps = [
        PaddingMap(arg_index=i, shape_index=dim)
        for i, dims in enumerate(varying)
        for dim, varies in enumerate(dims)
        if varies
    ]
    for number, found in enumerate(maps):
        found.padding_arg_index = len(inputs[0]) + number
    padded = []
    for replica, sizes in zip(inputs, shapes, strict=True):
        tensors, true_sizes = [], []
        for i, tensor in enumerate(replica):
            limits = TensorShape(maximum_shapes[i])
            tensors.append(_padded(tensor, sizes[i], limits, largest[i], varying[i], true_sizes))
        padded.append(tensors + true_sizes)
    return padded, maps


def _varying(tensors):
    """For each dimension whether replicas may have different sizes of it."""
    shapes = [tensor.shape.as_list() for tensor in tensors]
    return [
        min(sizes) != max(sizes) if any(s is not None for s in sizes) else True for sizes in zip(*shapes, strict=True)
    ]


def _padded(tensor, size, limits, largest, varying, true_sizes):
    if not any(varying):
        return tensor
    paddings = []
    for dim, varies in enumerate(varying):
        if not varies:
            paddings.append([0, 0])
            continue
        true_sizes.append(math.cast(size[dim], dtypes.uint32))
        limit = limits.as_list()[dim]
        paddings.append([0, (largest[dim] if limit is None else limit) - size[dim]])
    if not tensor.shape.is_fully_defined():
        return array.pad(tensor, paddings)
    return cond(constant(True), lambda: array.pad(tensor, paddings), lambda: tensor)
