"""Slices of tensors: which part of a partitioned variable a stored piece is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from everflow.framework.errors import InvalidArgumentError
from everflow.protos import tensor_slice_pb2

if TYPE_CHECKING:
    import numpy.typing as npt

# (start, length) in each dimension.
Extents: TypeAlias = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class TensorSlice:
    """For each dimension the start and length of the part; length -1 stands for all of it."""

    extents: tuple[tuple[int, int], ...]

    @classmethod
    def full(cls, rank: int) -> TensorSlice:
        return cls(((0, -1),) * rank)

    @classmethod
    def from_proto(cls, proto: tensor_slice_pb2.TensorSliceProto) -> TensorSlice:
        return cls(tuple((e.start, e.length if e.HasField("length") else -1) for e in proto.extent))

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """From the form "0,2:-": start,length for each dimension, - for a full one."""
        extents = []
        for part in text.split(":") if text else []:
            if part == "-":
                extents.append((0, -1))
                continue
            try:
                start, length = (int(word) for word in part.split(","))
            except ValueError:
                start = length = -1
            if start < 0 or length <= 0:
                raise InvalidArgumentError(
                    None, None, f"Expected a pair of numbers or '-' in a slice specification, got {part!r} in {text!r}"
                )
            extents.append((start, length))
        return cls(tuple(extents))

    def to_proto(self) -> tensor_slice_pb2.TensorSliceProto:
        proto = tensor_slice_pb2.TensorSliceProto()
        for start, length in self.extents:
            extent = proto.extent.add()
            if length >= 0:
                extent.start, extent.length = start, length
        return proto

    def resolved(self, shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(start, length) in a tensor of this shape, full dimensions spelled out."""
        if len(shape) != len(self.extents):
            raise InvalidArgumentError(
                None, None, f"A slice of {len(self.extents)} dimensions does not fit shape {list(shape)}"
            )
        out = []
        for (start, length), side in zip(self.extents, shape):
            length = side if length < 0 else length
            if start < 0 or length < 0 or start + length > side:
                raise InvalidArgumentError(None, None, f"The slice {self.extents} reaches beyond shape {list(shape)}")
            out.append((start, length))
        return tuple(out)

    @property
    def is_full(self) -> bool:
        return all(length < 0 for _, length in self.extents)


def overlaps(wanted: Extents, held: Extents) -> bool:
    """Whether two resolved slices share elements."""
    return all(max(start, other) < min(start + n, other + m) for (start, n), (other, m) in zip(wanted, held))


def assembled(wanted: Extents, parts: list[tuple[Extents, np.ndarray]], dtype: npt.DTypeLike) -> np.ndarray | None:
    """The array of a resolved slice, from (resolved slice, array) of the parts there are; None where they don't cover
    it.

    Memory is taken when all is known to be there: what a file says of its sizes may be wrong.
    """
    shared = [_shared(wanted, held) for held, _ in parts]
    if sum(math.prod(high - low for low, high in each) for each in shared if each is not None) != math.prod(
        n for _, n in wanted
    ):
        return None
    result = np.empty([length for _, length in wanted], dtype)
    for (held, array), each in zip(parts, shared, strict=True):
        if each is not None:
            into = tuple(slice(low - start, high - start) for (low, high), (start, _) in zip(each, wanted, strict=True))
            result[into] = array[
                tuple(slice(low - start, high - start) for (low, high), (start, _) in zip(each, held, strict=True))
            ]
    return result


def _shared(wanted: Extents, held: Extents) -> list[tuple[int, int]] | None:
    """From where to where two resolved slices overlap, in each dimension; None where they don't."""
    ranges = []
    for (start, length), (other, other_length) in zip(wanted, held, strict=True):
        low, high = max(start, other), min(start + length, other + other_length)
        if low > high or (low == high and length):
            return None
        ranges.append((low, high))
    return ranges
