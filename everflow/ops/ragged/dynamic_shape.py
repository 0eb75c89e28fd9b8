"""`RaggedTensorDynamicShape`: the sizes of a ragged tensor's dimensions as tensors, and broadcasting by them.

Broadcasting goes from the outermost dimension inwards: rows that are repeated carry those inside of them along.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.sequences import int_tensor
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.ragged.places import tile
from everflow.ops.ragged.segments import lengths_to_splits, repeat_ranges
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor, nvals


class RaggedTensorDynamicShape:
    """Sizes of the partitioned dimensions, a scalar where it is uniform and else a vector with the length of each row,
    and of the dimensions within, which are all uniform.
    """

    def __init__(self, partitioned_dim_sizes, inner_dim_sizes, dim_size_dtype=None):
        if not isinstance(partitioned_dim_sizes, (list, tuple)):
            raise TypeError(f"partitioned_dim_sizes must be a list of sizes, not {partitioned_dim_sizes!r}")
        with name_scope(None, "RaggedTensorDynamicShape", [partitioned_dim_sizes, inner_dim_sizes]):
            partitioned = [
                array.constant([], dtype=dtypes.int64)
                if isinstance(size, list | tuple) and not size
                else convert_to_tensor(size, name=f"partitioned_dimension_size_{i}")
                for i, size in enumerate(partitioned_dim_sizes)
            ]
            inner = convert_to_tensor(inner_dim_sizes, name="inner_dim_sizes")
            if partitioned:
                for i, size in enumerate(partitioned):
                    if size.shape.rank is None:
                        raise ValueError(f"rank of partitioned_dim_sizes[{i}] is unknown")
                    size.shape.with_rank_at_most(1)
                if partitioned[0].shape.rank == 1:
                    raise ValueError("outermost partitioned dimension must be uniform")
                if partitioned[-1].shape.rank == 0:
                    raise ValueError("innermost partitioned dimension must be ragged")
            inner.shape.assert_has_rank(1)
            if dim_size_dtype is None:
                wide = not partitioned or any(p.dtype == dtypes.int64 for p in [*partitioned, inner])
                dim_size_dtype = dtypes.int64 if wide else dtypes.int32
            self._partitioned = tuple(math.cast(p, dim_size_dtype) for p in partitioned)
            self._inner = math.cast(inner, dim_size_dtype)

    partitioned_dim_sizes = property(lambda self: self._partitioned, doc="Sizes of the outer dimensions.")
    inner_dim_sizes = property(lambda self: self._inner, doc="Sizes of the uniform dimensions within, as a vector.")
    num_partitioned_dimensions = property(lambda self: len(self._partitioned), doc="How many of the outer ones.")
    num_inner_dimensions = property(lambda self: self._inner.shape.size(0), doc="How many within, or None.")
    dim_size_dtype = property(lambda self: self._inner.dtype, doc="int32 or int64.")

    def __repr__(self):
        return f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._partitioned!r}, inner_dim_sizes={self._inner!r})"

    @staticmethod
    def from_dim_sizes(dim_sizes):
        """From a size for each dimension: a scalar, or the lengths of its rows."""
        with name_scope(None, "RaggedTensorDynamicShapeFromDimensionSizes", [dim_sizes]):
            sizes = [
                convert_to_tensor(s, preferred_dtype=None if isinstance(s, Tensor) else dtypes.int64, name="dim_sizes")
                for s in dim_sizes
            ]
            ragged = [i for i, size in enumerate(sizes) if size.shape.with_rank_at_most(1).rank == 1]
            count = ragged[-1] + 1 if ragged else 0
            return RaggedTensorDynamicShape(sizes[:count], sizes[count:])

    @classmethod
    def from_tensor(cls, rt_input, dim_size_dtype=None):
        """The shape of a tensor, ragged or not."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            rt_input = as_ragged_or_tensor(rt_input)
            if not isinstance(rt_input, RaggedTensor):
                return cls([], array.shape(rt_input))
            sizes = (rt_input.nrows(), *rt_input.nested_row_lengths())
            return cls(sizes, array.shape(rt_input.flat_values)[1:], dim_size_dtype=dim_size_dtype)

    @property
    def rank(self):
        """The number of dimensions, or None."""
        return None if self.num_inner_dimensions is None else len(self._partitioned) + self.num_inner_dimensions

    def is_ragged(self, axis):
        """Whether the rows along a dimension have lengths of their own."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0 or self.rank is not None and axis >= self.rank:
            raise ValueError(f"axis={axis} is out of the range of the {self.rank} dimensions")
        return axis < len(self._partitioned) and self._partitioned[axis].shape.rank == 1

    def dimension_size(self, axis):
        """The size of a dimension: a scalar, or the length of each of its rows."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        count = len(self._partitioned)
        return self._partitioned[axis] if axis < count else self._inner[axis - count]

    def num_slices_in_dimension(self, axis):
        """How many slices there are down to a dimension, all rows together."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            return array.constant(1, dtype=self.dim_size_dtype)
        is_ragged = self.is_ragged(axis)  # which refuses an axis that isn't there
        size = self.dimension_size(axis)
        return math.reduce_sum(size) if is_ragged else size * self.num_slices_in_dimension(axis - 1)

    def with_dim_size_dtype(self, dtype):
        """The same with sizes in int32 or int64."""
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        return RaggedTensorDynamicShape([math.cast(p, dtype) for p in self._partitioned], math.cast(self._inner, dtype))

    def broadcast_to_rank(self, rank):
        """The same with dimensions of size 1 before it, up to so many."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        missing = rank - self.rank
        if missing < 0:
            raise ValueError(f"Unable to broadcast: rank={rank} is less than the {self.rank} dimensions there are")
        if missing == 0:
            return self
        if self._partitioned:
            return RaggedTensorDynamicShape((1,) * missing + self._partitioned, self._inner, self.dim_size_dtype)
        ones = array.ones([missing], self.dim_size_dtype)
        return RaggedTensorDynamicShape((), array.concat([ones, self._inner], axis=0), self.dim_size_dtype)

    def broadcast_dimension(self, axis, lengths):
        """The same with a dimension of size 1 repeated: `lengths` times, or a number of times for each row."""
        lengths = convert_to_tensor(lengths, name="lengths", preferred_dtype=dtypes.int32)
        if lengths.shape.rank is None:
            raise ValueError("lengths must have a known rank.")
        if lengths.shape.rank > 1:
            raise ValueError("lengths must be a scalar or vector")
        lengths = int_tensor(lengths, "lengths", self.dim_size_dtype)
        if self.is_ragged(axis):
            fits = math.equal(lengths, 1 if lengths.shape.rank == 0 else self.dimension_size(axis))
            fits = fits if lengths.shape.rank == 0 else math.reduce_all(fits)
        elif lengths.shape.rank == 0:
            size = self.dimension_size(axis)
            either = math.logical_or(math.equal(lengths, 1), math.equal(size, 1), name="or")
            fits = math.logical_or(either, math.equal(size, lengths), name="or")
        else:
            fits = math.equal(self.dimension_size(axis), 1)
        words = "A dimension can't be broadcast: it is neither 1 nor of the other's size. Dimension:"
        check = Assert(fits, [words, axis, "lengths=", lengths, "dim_size=", self.dimension_size(axis)], summarize=10)
        with control_dependencies([check]):
            if self.is_ragged(axis):
                return RaggedTensorDynamicShape(self._partitioned, array.identity(self._inner))
            if axis >= len(self._partitioned):
                return self._with_inner(axis - len(self._partitioned), lengths)
            return self._with_partitioned(axis, lengths)

    def _with_inner(self, place, lengths):
        """Another size for one of the uniform dimensions within; lengths of rows make it the last partitioned one."""
        if lengths.shape.rank == 1:
            sizes = [*self._partitioned, *(self._inner[i] for i in range(place)), lengths]
            return RaggedTensorDynamicShape(sizes, self._inner[place + 1 :])
        size = self._inner[place]
        before = self._inner[:place]
        size = array.where(math.equal(size, 1), lengths, size)
        inner = array.concat([before, [size], self._inner[place + 1 :]], axis=0)
        return RaggedTensorDynamicShape(self._partitioned, inner)

    def _with_partitioned(self, axis, lengths):
        """Another size for a uniform dimension among the partitioned ones; rows below it are repeated with it."""
        size = self.dimension_size(axis)
        if lengths.shape.rank == 0:
            lengths = array.where(math.equal(size, 1), lengths, size)
            repeats = array.where(math.equal(size, 1), lengths, 1)
            splits = array.stack([0, self.num_slices_in_dimension(axis)])
        else:
            if axis == 0:
                raise ValueError(
                    "Only inner dimensions can be broadcast to rows of several lengths, not the outermost."
                )
            repeats = lengths
            splits = math.range(array.size(lengths, out_type=self.dim_size_dtype) + 1)
        sizes = [*self._partitioned[:axis], lengths]
        for old in self._partitioned[axis + 1 :]:
            if old.shape.rank == 0:
                sizes.append(old)
                splits = splits * old
            else:
                sizes.append(repeat_ranges(old, splits, repeats))
                splits = array.gather(lengths_to_splits(old), splits)
        return RaggedTensorDynamicShape(sizes, self._inner)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that two shapes have when broadcast to each other."""
    for shape in (shape_x, shape_y):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"A RaggedTensorDynamicShape is wanted, not {shape!r}")
        if shape.rank is None:
            raise ValueError("Unable to broadcast: the rank of a shape is unknown")
    rank = max(shape_x.rank, shape_y.rank)
    shape_x, shape_y = shape_x.broadcast_to_rank(rank), shape_y.broadcast_to_rank(rank)
    for axis in range(rank):
        shape_x = shape_x.broadcast_dimension(axis, shape_y.dimension_size(axis))
        shape_y = shape_y.broadcast_dimension(axis, shape_x.dimension_size(axis))
    return shape_x


def broadcast_to(rt_input, shape, broadcast_inner_dimensions=True):
    """A tensor repeated to a shape; its inner dimensions too, if `broadcast_inner_dimensions`."""
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    rt_input = as_ragged_or_tensor(rt_input)
    if shape.num_partitioned_dimensions:
        return _repeated(rt_input, shape, broadcast_inner_dimensions)
    if isinstance(rt_input, RaggedTensor):
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    return array.broadcast_to(rt_input, shape.inner_dim_sizes) if broadcast_inner_dimensions else rt_input


def _repeated(rt_input, shape, broadcast_inner_dimensions):
    kind, count = shape.dim_size_dtype, shape.num_partitioned_dimensions
    if isinstance(rt_input, RaggedTensor):
        rt_input = rt_input.with_row_splits_dtype(kind)
    old = RaggedTensorDynamicShape.from_tensor(rt_input)
    if old.num_partitioned_dimensions > count or old.rank > shape.rank:
        raise ValueError("Incompatible with shape: rank mismatch")
    old = old.broadcast_to_rank(shape.rank)
    rt_input = _with_outer_rows(rt_input, shape)
    times = [1] * shape.rank
    for axis in range(count):
        if not old.is_ragged(axis) and not shape.is_ragged(axis):
            size, wanted = old.dimension_size(axis), shape.dimension_size(axis)
            if constant_value(size) in (1, None) and constant_value(wanted) != 1:
                times[axis] = array.where(math.equal(size, 1), wanted, 1)
    if any(isinstance(each, Tensor) for each in times):
        rt_input = tile(rt_input, array.stack(times, axis=0))
    if broadcast_inner_dimensions:
        rt_input = rt_input.with_flat_values(_with_inner_sizes(rt_input.flat_values, shape))
    for axis in range(count):  # those that become ragged, from the outermost inwards
        if not old.is_ragged(axis) and shape.is_ragged(axis):
            rt_input = _tiled_rows(rt_input, axis, shape.dimension_size(axis))
    return rt_input


def _with_inner_sizes(values, shape):
    return array.reshape(values, array.concat([[-1], shape.inner_dim_sizes], axis=0))


def _with_outer_rows(rt_input, shape):
    """A tensor with one row around all for each outer dimension it lacks, and ragged wherever the shape is."""
    if rt_input.shape.rank < shape.num_inner_dimensions + 1:
        rt_input = _with_inner_sizes(rt_input, shape)
    while rt_input.shape.rank < shape.rank:
        rows = nvals(rt_input, shape.dim_size_dtype)
        rt_input = RaggedTensor.from_row_lengths(rt_input, row_lengths=[rows], validate=False)
    depth = rt_input.ragged_rank if isinstance(rt_input, RaggedTensor) else 0
    missing = shape.num_partitioned_dimensions - 1 - depth
    if missing > 0:
        flat = rt_input.flat_values if depth else rt_input
        flat = RaggedTensor.from_tensor(flat, ragged_rank=missing, row_splits_dtype=shape.dim_size_dtype)
        rt_input = rt_input.with_flat_values(flat) if depth else flat
    return rt_input


def _tiled_rows(rt_input, axis, repeats):
    """Rows of one dimension repeated, each so many times as `repeats` says."""
    if axis > 1:
        return rt_input.with_values(_tiled_rows(rt_input.values, axis - 1, repeats))
    old_splits, old_lengths = rt_input.nested_row_splits, rt_input.nested_row_lengths()
    splits, lengths = old_splits[0], [repeats]
    for deeper_splits, deeper_lengths in zip(old_splits[1:], old_lengths[1:], strict=True):
        lengths.append(repeat_ranges(deeper_lengths, splits, repeats))
        splits = array.gather(deeper_splits, splits)
    values = repeat_ranges(rt_input.flat_values, splits, repeats)
    return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)
