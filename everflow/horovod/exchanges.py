"""`allreduce`, `allgather` and `broadcast` of tensors over all processes, with their gradients."""

from __future__ import annotations

import itertools
import re

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.framework.shapes import TensorShape
from everflow.horovod.processes import GROUP_KEY, key_of, rank, size
from everflow.ops import array, math
from everflow.ops.gradients.custom import custom_gradient

Average, Sum, Adasum = "Average", "Sum", "Adasum"
_calls = itertools.count()


class Compressor:
    """How gradients are made smaller before they travel."""

    @staticmethod
    def compress(tensor):
        """(what travels, what `decompress` has to know)."""
        return tensor, None

    @staticmethod
    def decompress(tensor, ctx):
        return tensor


class NoneCompressor(Compressor):
    """They are not."""


class FP16Compressor(Compressor):
    """They travel as halves."""

    @staticmethod
    def compress(tensor):
        return (math.cast(tensor, dtypes.float16), tensor.dtype) if tensor.dtype.is_floating else (tensor, None)

    @staticmethod
    def decompress(tensor, ctx):
        return tensor if ctx is None else math.cast(tensor, ctx)


class Compression:
    """What `compression` may be."""

    none, fp16 = NoneCompressor, FP16Compressor


def _scope(name: str | None, default: str):
    return name_scope(re.sub(r"[^\w.\-/]", "_", name) if name else None, default)


def _name(kind: str, tensor, name: str | None) -> str:
    """What all processes call this exchange: graphs of theirs have the same names, calls outside of one the same order."""
    if name is not None:
        return f"{kind} {name}"
    return f"{kind} {next(_calls)}" if executing_eagerly() else f"{kind} {tensor.name}"


def _attributes(key: int) -> dict:
    return {"group_size": size(), "group_key": GROUP_KEY, "instance_key": key}


def _sum(tensor, name: str):
    if size() == 1:
        return array.identity(tensor)

    @custom_gradient
    def exchanged(x):
        total = raw.CollectiveReduce(
            input=x, **_attributes(key_of(name)), merge_op="Add", final_op="Id", subdiv_offsets=[0]
        )
        return total, lambda grad: _sum(grad, f"{name} gradient")

    return exchanged(tensor)


def _adasum(tensor, name: str):
    """Gradients put together in pairs, each shortened by what it has in common with the other: as if one step had followed
    the other. Orthogonal ones add up, equal ones give themselves.
    """
    count = size()
    if count & (count - 1):
        raise NotImplementedError(f"Adasum joins processes in pairs: their number must be a power of two, not {count}")
    if not tensor.dtype.is_floating:
        raise NotImplementedError(f"Adasum is defined for floating-point tensors, not for {tensor.dtype.name}")
    if count == 1:
        return array.identity(tensor)
    rows = raw.CollectiveGather(
        input=array.expand_dims(tensor, 0), **_attributes(key_of(f"adasum {name}")), shape=TensorShape(None)
    )
    parts = [array.reshape(rows[i], array.shape(tensor)) for i in range(count)]
    while len(parts) > 1:
        parts = [_adasum_pair(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _adasum_pair(a, b):
    wide_a, wide_b = math.cast(a, dtypes.float64), math.cast(b, dtypes.float64)
    common = math.reduce_sum(wide_a * wide_b)

    def shortened(x):
        square = math.reduce_sum(x * x)
        is_something = math.greater_equal(square, 1e-8)
        divisor = array.where(is_something, square, array.ones_like(square))
        return array.where(is_something, 1.0 - common / divisor * 0.5, array.ones_like(square)) * x

    return math.cast(shortened(wide_a) + shortened(wide_b), a.dtype)


def allreduce(
    tensor, average=None, device_dense="", device_sparse="", compression=Compression.none, op=None, name=None
):
    """The mean (`op=hvd.Sum`: the sum) of a tensor over all processes. Rows of slices are joined."""
    if op is None:
        op = Sum if average is False else Average
    if isinstance(tensor, IndexedSlices):
        if op == Adasum:
            raise NotImplementedError(
                "Adasum is not defined for slices; sparse_as_dense=True makes tensors of the gradients first"
            )
        with _scope(name, "HorovodAllreduce"):
            values, indices = allgather(tensor.values), allgather(tensor.indices)
            return IndexedSlices(values / size() if op == Average else values, indices, tensor.dense_shape)
    with _scope(name, "HorovodAllreduce"):
        tensor = convert_to_tensor(tensor)
        small, context = compression.compress(tensor)
        exchange = _adasum if op == Adasum else _sum
        total = compression.decompress(exchange(small, _name("allreduce", tensor, name)), context)
        if op != Average:
            return total
        return math.floordiv(total, size()) if tensor.dtype.is_integer else total / size()


def allgather(tensor, name=None):
    """The rows of all processes' tensors, one after the other; their number may differ."""
    with _scope(name, "HorovodAllgather"):
        tensor = convert_to_tensor(tensor)
        if size() == 1:
            return array.identity(tensor)
        known = _name("allgather", tensor, name)

        @custom_gradient
        def exchanged(x):
            rows = raw.CollectiveGather(input=x, **_attributes(key_of(known)), shape=TensorShape(None))

            def gradient(grad):
                counts = allgather(array.reshape(array.shape(x)[0], [1]), name=f"{known} counts")
                first = math.reduce_sum(counts[: rank()])
                return _sum(grad, f"{known} gradient")[first : first + array.shape(x)[0]]

            return rows, gradient

        return exchanged(tensor)


def broadcast(tensor, root_rank, name=None):
    """The tensor of one process, for all of them."""
    if not 0 <= root_rank < size():
        raise ValueError(f"root_rank is {root_rank}, and there are {size()} processes")
    with _scope(name, "HorovodBroadcast"):
        tensor = convert_to_tensor(tensor)
        if size() == 1:
            return array.identity(tensor)
        known = _name("broadcast", tensor, name)

        @custom_gradient
        def exchanged(x):
            def gradient(grad):
                total = _sum(grad, f"{known} gradient")
                return total if rank() == root_rank else array.zeros_like(total)

            return _sent(x, root_rank, key_of(known)), gradient

        if tensor.dtype is dtypes.bool:
            return math.cast(_sent(math.cast(tensor, dtypes.int32), root_rank, key_of(known)), dtypes.bool)
        return exchanged(tensor)


def _sent(tensor, root_rank: int, key: int):
    if not tensor.shape.is_fully_defined():
        rows = raw.CollectiveGather(input=array.expand_dims(tensor, 0), **_attributes(key), shape=TensorShape([0]))
        return rows[root_rank]
    if rank() == root_rank:
        return raw.CollectiveBcastSend(input=tensor, **_attributes(key), shape=tensor.shape)
    return raw.CollectiveBcastRecv(T=tensor.dtype, **_attributes(key), shape=tensor.shape)


def reduced_gradients(gradients, compression, sparse_as_dense: bool, op=None, names=None) -> list:
    """Gradients averaged over all processes; None stays None."""
    if size() == 1:
        return list(gradients)

    def one(gradient, name):
        if gradient is None:
            return None
        if sparse_as_dense and isinstance(gradient, IndexedSlices):
            gradient = convert_to_tensor(gradient)
        return allreduce(gradient, compression=compression, op=op, name=name)

    names = names or [None] * len(nest.flatten(gradients))
    return [one(gradient, name) for gradient, name in zip(gradients, names, strict=True)]
