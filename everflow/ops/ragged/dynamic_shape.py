"""`RaggedTensorDynamicShape`: the sizes of a ragged tensor's dimensions as tensors, and broadcasting by them.

Slices of a dimension are numbered in the order of their values; broadcasting is a list of which old slice each new one
copies, carried from a dimension to the next.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.sequences import repeat
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.ragged.functions import range as ragged_range
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor


class RaggedTensorDynamicShape:
    """Sizes of the partitioned dimensions, a scalar where it is uniform and else a vector with the length of each row,
    and of the dimensions within, which are all uniform.
    """

    def __init__(self, partitioned_dim_sizes, inner_dim_sizes, dim_size_dtype=None):
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
            sizes = [convert_to_tensor(s, dtypes.int64, "dim_sizes") for s in dim_sizes]
            ragged = [i for i, size in enumerate(sizes) if size.shape.with_rank_at_most(1).rank == 1]
            count = ragged[-1] + 1 if ragged else 0
            inner = array.stack(sizes[count:]) if sizes[count:] else []
            return RaggedTensorDynamicShape(sizes[:count], inner, dim_size_dtype=dtypes.int64)

    @classmethod
    def from_tensor(cls, rt_input, dim_size_dtype=None):
        """The shape of a tensor, ragged or not."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            rt_input = as_ragged_or_tensor(rt_input)
            if not isinstance(rt_input, RaggedTensor):
                return cls([], array.shape(rt_input, out_type=dim_size_dtype or dtypes.int64))
            kind = dim_size_dtype or rt_input.row_splits.dtype
            sizes = (rt_input.nrows(), *rt_input.nested_row_lengths())
            return cls(sizes, array.shape(rt_input.flat_values, out_type=kind)[1:], dim_size_dtype=kind)

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
        size = self.dimension_size(axis)
        return math.reduce_sum(size) if self.is_ragged(axis) else size * self.num_slices_in_dimension(axis - 1)

    def with_dim_size_dtype(self, dtype):
        """The same with sizes in int32 or int64."""
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        return RaggedTensorDynamicShape(self._partitioned, self._inner, dim_size_dtype=dtype)

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
        lengths = math.cast(as_ragged_or_tensor(lengths, "lengths"), self.dim_size_dtype)
        if lengths.shape.rank is None:
            raise ValueError("lengths must have a known rank.")
        if lengths.shape.rank > 1:
            raise ValueError("lengths must be a scalar or vector")
        size = self.dimension_size(axis)
        with control_dependencies([self._fits(axis, size, lengths)]):
            if self.is_ragged(axis):
                return self._with_dimension(axis, array.identity(size))
            if lengths.shape.rank == 1:
                if axis == 0:
                    raise ValueError("Unable to broadcast: outermost dimension must be uniform.")
                source = repeat(math.range(self.num_slices_in_dimension(axis - 1)), lengths)
                return self._with_dimension(axis, array.identity(lengths), source)
            alone = math.equal(size, 1)
            times = array.where(alone, lengths, array.ones_like(lengths))
            source = repeat(math.range(self.num_slices_in_dimension(axis)), times)
            return self._with_dimension(axis, size * times, source)

    def _fits(self, axis, size, lengths):
        """A check that a dimension can be made of these lengths."""
        if lengths.shape.rank == 0:
            whole = math.reduce_all(math.equal(size, lengths)) if self.is_ragged(axis) else math.equal(size, lengths)
            fits = math.logical_or(math.equal(lengths, 1), whole)
            if not self.is_ragged(axis):
                fits = math.logical_or(math.equal(size, 1), fits)
        elif self.is_ragged(axis):
            fits = math.reduce_all(math.equal(size, lengths))
        else:
            fits = math.equal(size, 1)
        words = f"A dimension can't be broadcast: it is neither 1 nor of the other's size, dimension {axis}"
        return Assert(fits, [words, "lengths=", lengths, "dim_size=", size])

    def _with_dimension(self, axis, size, source=None):
        """Another size at `axis`; `source` says which of its slices each new one copies, if they are others."""
        count = len(self._partitioned)
        if axis >= count and size.shape.rank == 0:
            inner = [self._inner[: axis - count], array.expand_dims(size, 0), self._inner[axis - count + 1 :]]
            return RaggedTensorDynamicShape(self._partitioned, array.concat(inner, axis=0), self.dim_size_dtype)
        if axis >= count:
            between = [self._inner[i] for i in range(axis - count)]
            within = self._inner[axis - count + 1 :]
            return RaggedTensorDynamicShape([*self._partitioned, *between, size], within, self.dim_size_dtype)
        after = list(self._partitioned[axis + 1 :])
        if source is not None:
            for i, old in enumerate(after):
                after[i] = array.gather(old, source) if old.shape.rank == 1 else old
                source = _children(source, old)
        sizes = [*self._partitioned[:axis], size, *after]
        return RaggedTensorDynamicShape(sizes, self._inner, self.dim_size_dtype)


def _children(slices, size):
    """The slices of the next dimension, of this size, that lie in these slices, in their order."""
    if size.shape.rank == 0:
        return array.reshape(array.expand_dims(slices * size, 1) + math.range(size), [-1])
    limits = math.cumsum(size)
    starts = limits - size
    rows = ragged_range(array.gather(starts, slices), array.gather(limits, slices), row_splits_dtype=size.dtype)
    return rows.values


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
    old = RaggedTensorDynamicShape.from_tensor(rt_input, dim_size_dtype=kind)
    if old.num_partitioned_dimensions > count:
        raise ValueError("Incompatible with shape: rank mismatch")
    old = old.broadcast_to_rank(shape.rank)
    source = array.zeros([1], kind)  # which old slice each new one copies, from the outermost dimension inwards
    lengths = []
    for axis in range(count):
        size = old.dimension_size(axis)
        if old.is_ragged(axis):
            lengths.append(array.gather(size, source))
            source = _children(source, size)
            continue
        wanted = shape.dimension_size(axis)
        if not shape.is_ragged(axis):
            wanted = array.zeros_like(source) + wanted
        times = array.where(math.equal(size, 1), wanted, array.ones_like(wanted))
        lengths.append(times * size)
        source = _children(source, size)
        source = repeat(source, repeat(times, array.zeros_like(times) + size))
    flat = rt_input.flat_values if isinstance(rt_input, RaggedTensor) else rt_input
    sizes = [old.dimension_size(axis) for axis in range(count, shape.rank)]
    flat = array.gather(array.reshape(flat, array.stack([math.cast(-1, kind), *sizes])), source)
    if broadcast_inner_dimensions:
        rows = array.shape(source, out_type=kind)
        flat = array.broadcast_to(flat, array.concat([rows, shape.inner_dim_sizes], axis=0))
    return RaggedTensor.from_nested_row_lengths(flat, lengths[1:], validate=False)
