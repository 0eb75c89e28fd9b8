"""`RaggedTensor`: rows of different lengths, held as all their values in one tensor and the places where each row
begins.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import CompositeTensor, SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, known_value
from everflow.ops import array, math
from everflow.ops.array.sequences import positive_axis
from everflow.ops.checks import shapes
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.ragged.segments import row_splits_to_segment_ids
from everflow.ops.ragged.value import RaggedTensorValue, ragged_value


class RaggedTensor(CompositeTensor):
    """A tensor some of whose dimensions have rows of different lengths. Made by the `from_*` functions or
    `tf.ragged.constant`, not by its constructor.

    Args:
        values: The values of all rows, one after another.
        row_splits: Where each row begins, and the end of the last.
        cached_row_lengths: The lengths of the rows, where they are known already.
        cached_value_rowids: The row of each value, where that is known already.
        cached_nrows: How many rows there are, where that is known already.
        internal: Whether the package itself calls.

    Example:
        >>> rows = tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5], row_splits=[0, 2, 2, 5])
        >>> sess.run(rows).to_list()
        [[3, 1], [], [4, 1, 5]]
    """

    def __init__(
        self, values, row_splits, cached_row_lengths=None, cached_value_rowids=None, cached_nrows=None, internal=False
    ):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; use RaggedTensor.from_row_lengths() or another of its kind"
            )
        for what, value, kinds in (
            ("Row-splitting", row_splits, (Tensor,)),
            ("values", values, (Tensor, RaggedTensor)),
        ):
            if not isinstance(value, kinds):
                raise TypeError(f"{what} tensor must be a Tensor, got {value!r}")
        if row_splits.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("Row-split tensors must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError(
                f"All row_splits must have the same dtype, not {row_splits.dtype.name} and {values.row_splits.dtype.name}"
            )
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if cached is not None and not isinstance(cached, Tensor):
                raise TypeError(f"What is known already of the rows must be a Tensor or None, not {cached!r}")
        self._values, self._row_splits = values, row_splits
        self._cached_row_lengths = cached_row_lengths
        self._cached_value_rowids = cached_value_rowids
        self._cached_nrows = cached_nrows

    # Making one

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """From the row number of each value, in ascending order; `nrows` where the last rows may be empty."""
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, rowids = _values_and(values, value_rowids, "value_rowids")
            values.shape[:1].assert_is_compatible_with(rowids.shape)
            known = known_value(rowids)
            if nrows is None and known is not None:
                nrows = int(known[-1]) + 1 if len(known) else 0
            if nrows is None:
                nrows = array.concat([rowids[-1:], [-1]], axis=0)[0] + 1
            else:
                nrows = convert_to_tensor(nrows, rowids.dtype, "nrows")
                # Only of plain constants: what is computed is checked when it runs.
                rows, last = constant_value(nrows), constant_value(rowids)
                if rows is not None and last is not None and len(last) and last[-1] >= rows:
                    raise ValueError(f"nrows={int(rows)} is too few for value_rowids, whose last one is {last[-1]}")
            if validate:
                count, given = nvals(values, dtypes.int32), array.shape(rowids)[0]
                with _Checks("from_value_rowids", values) as checks:
                    checks.rank(rowids, 1)
                    checks.rank(nrows, 0)
                    checks.equal(count, given)
                    checks.not_negative(rowids[:1])
                    checks.ascending(rowids)
                    checks.less(rowids[-1:], nrows)
                rowids = checks.before(rowids)
            ids, count = math.cast(rowids, dtypes.int32), math.cast(nrows, dtypes.int32)
            lengths = math.bincount(ids, minlength=count, maxlength=count, dtype=rowids.dtype)
            static = _static_rows(nrows)
            if static is not None:
                lengths.set_shape([static])
            known = {"cached_row_lengths": lengths, "cached_value_rowids": rowids, "cached_nrows": nrows}
            return cls(values, _ends(lengths), **known, internal=True)

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """From where each row begins, and last the number of values."""
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, splits = _values_and(values, row_splits, "row_splits")
            if validate:
                count = nvals(values, splits.dtype)
                with _Checks("from_row_splits", values) as checks:
                    checks.rank(splits, 1)
                    checks.zero(splits[0])
                    checks.ascending(splits)
                    checks.equal(splits[-1], count)
                splits = checks.before(splits)
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """From the length of each row."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, lengths = _values_and(values, row_lengths, "row_lengths")
            if validate:
                total, count = math.reduce_sum(lengths), nvals(values, lengths.dtype)
                with _Checks("from_row_lengths", values) as checks:
                    checks.rank(lengths, 1)
                    checks.not_negative(lengths)
                    checks.equal(total, count)
                lengths = checks.before(lengths)
            return cls(values, _ends(lengths), cached_row_lengths=lengths, internal=True)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """From where each row begins."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, starts = _values_and(values, row_starts, "row_starts")
            count = nvals(values, starts.dtype)
            if validate:
                with _Checks("from_row_starts", values) as checks:
                    checks.rank(starts, 1)
                    checks.zero(starts[:1])
                    checks.ascending(starts)
                    checks.at_most(starts[-1:], count)
                starts = checks.before(starts)
            return cls(values, array.concat([starts, [count]], axis=0), internal=True)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """From where each row ends."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, limits = _values_and(values, row_limits, "row_limits")
            if validate:
                count = nvals(values, limits.dtype)
                with _Checks("from_row_limits", values) as checks:
                    checks.rank(limits, 1)
                    checks.not_negative(limits[:1])
                    checks.ascending(limits)
                    checks.equal(limits[-1:], count)
                limits = checks.before(limits)
            zero = array.zeros([1], limits.dtype)
            return cls(values, array.concat([zero, limits], axis=0), internal=True)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """From the row splits of every ragged dimension, outermost first."""
        _check_nested("nested_row_splits", nested_row_splits)
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            return _nested(flat_values, nested_row_splits, lambda v, s: cls.from_row_splits(v, s, validate=validate))

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """From the row lengths of every ragged dimension, outermost first."""
        _check_nested("nested_row_lengths", nested_row_lengths)
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            return _nested(flat_values, nested_row_lengths, lambda v, s: cls.from_row_lengths(v, s, validate=validate))

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        """From the row numbers of every ragged dimension, outermost first."""
        _check_nested("nested_value_rowids", nested_value_rowids)
        _check_nested("nested_nrows", nested_nrows)
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        if len(counts) != len(nested_value_rowids):
            raise ValueError(f"nested_nrows has {len(counts)} numbers for {len(nested_value_rowids)} ragged dimensions")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids]):
            pairs = list(zip(nested_value_rowids, counts, strict=True))
            return _nested(
                flat_values, pairs, lambda v, p: cls.from_value_rowids(v, p[0], nrows=p[1], validate=validate)
            )

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a dense tensor: whole, or of these lengths, or without trailing `padding`."""
        from everflow.ops.ragged.conversion import ragged_from_tensor  # builds on this module

        return ragged_from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a sparse matrix whose values stand at the left without gaps."""
        from everflow.ops.ragged.conversion import ragged_from_sparse  # builds on this module

        return ragged_from_sparse(st_input, name, row_splits_dtype)

    # What it is

    values = property(lambda self: self._values, doc="All rows, one after the other.")
    row_splits = property(lambda self: self._row_splits, doc="Where each row begins, and last the number of values.")
    dtype = property(lambda self: self._values.dtype)

    @property
    def shape(self):
        """What is known of the shape; ragged dimensions are None."""
        rows = self._row_splits.shape.size(0)
        return TensorShape([None if rows is None else rows - 1, None]).concatenate(self._values.shape[1:])

    def get_shape(self):
        """What is known of the shape; ragged dimensions are None."""
        return self.shape

    @property
    def ragged_rank(self):
        """How many dimensions are ragged."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def flat_values(self):
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self):
        """The row splits of every ragged dimension, outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    def value_rowids(self, name=None):
        """The row number of each value."""
        if self._cached_value_rowids is not None:
            return self._cached_value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name=None):
        """The row numbers of every ragged dimension, outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type=None, name=None):
        """How many rows there are."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._cached_nrows is not None:
            return math.cast(self._cached_nrows, out_type)
        with name_scope(name, "RaggedNRows", [self]):
            return array.shape(self._row_splits, out_type=out_type)[0] - 1

    def row_starts(self, name=None):
        """Where each row begins."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Where each row ends."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The length of each row along a dimension; ragged itself for inner ones."""
        if axis == 1 and self._cached_row_lengths is not None:
            return self._cached_row_lengths
        with name_scope(name, "RaggedRowLengths", [self]):
            axis = positive_axis(axis, self.shape.rank)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            shape = array.shape(self._values, out_type=self._row_splits.dtype)
            return self.with_values(array.ones(shape[: axis - 1], self._row_splits.dtype) * shape[axis - 1])

    def nested_row_lengths(self, name=None):
        """The row lengths of every ragged dimension, outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def _levels(self):
        level = self
        while isinstance(level, RaggedTensor):
            yield level
            level = level.values

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The tightest dense shape that holds it, or its size along `axis`."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            if isinstance(axis, int) and axis == 0:
                return array.shape(self._row_splits, out_type=out_type)[0] - 1
            if isinstance(axis, int) and axis == 1:
                return math.maximum(math.reduce_max(self.row_lengths()), 0)
            rows = array.shape(self._row_splits, out_type=out_type)
            inner = array.shape(self.flat_values, out_type=out_type)
            count = rows[0] - 1
            widths = [math.maximum(math.reduce_max(s[1:] - s[:-1]), 0) for s in self.nested_row_splits]
            sizes = array.concat([array.stack([count, *widths]), inner[1:]], axis=0)
            return sizes if axis is None else array.gather(sizes, axis)

    # Others like it

    def with_values(self, new_values):
        """The same rows with other values, as many as there are."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        splits = self._row_splits
        if isinstance(new_values, RaggedTensor) and new_values.row_splits.dtype != splits.dtype:
            new_values, splits = new_values.with_row_splits_dtype(dtypes.int64), math.cast(splits, dtypes.int64)
        return RaggedTensor(
            new_values, splits, self._cached_row_lengths, self._cached_value_rowids, self._cached_nrows, internal=True
        )

    def with_flat_values(self, new_values):
        """The same rows in every ragged dimension with other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(
            convert_to_tensor(new_values) if not isinstance(new_values, RaggedTensor) else new_values
        )

    def with_row_splits_dtype(self, dtype):
        """The same with its row splits in int32 or int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        splits = math.cast(self._row_splits, dtype)
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(values, splits, internal=True)

    def to_tensor(self, default_value=None, name=None):
        """A dense tensor with `default_value` (zero) where rows are short."""
        from everflow.ops.ragged.conversion import ragged_to_tensor  # builds on this module

        return ragged_to_tensor(self, default_value, name)

    def to_sparse(self, name=None):
        """A SparseTensor of its values."""
        with name_scope(name, "RaggedToSparse", [self]):
            return SparseTensor(*raw.RaggedTensorToSparse(list(self.nested_row_splits), self.flat_values, name=name))

    def to_list(self):
        """Nested Python lists; only where values are at hand, in eager execution."""
        from everflow.ops.ragged.conversion import eager_value  # builds on this module

        return eager_value(self).to_list()

    # What a session asks

    def _parts(self):
        return [*self.nested_row_splits, self.flat_values]

    def _fetched(self, arrays):
        return ragged_value(arrays)

    def _fed(self, value):
        return [*value.nested_row_splits, value.flat_values]

    def consumers(self) -> list:
        """The operations that use one of its tensors."""
        if self._is_eager():
            return []
        return list(dict.fromkeys(op for t in self._parts() for op in t.consumers()))

    def _is_eager(self):
        return self._row_splits.is_eager

    _is_graph_tensor = property(lambda self: not self._is_eager())

    def _to_variant(self, batched_input=False, name=None):
        """A scalar that holds all of it, or a vector with one for each row."""
        with name_scope(name, "RaggedToVariant", [self, batched_input]):
            return raw.RaggedTensorToVariant(
                rt_nested_splits=list(self.nested_row_splits),
                rt_dense_values=self.flat_values,
                batched_input=batched_input,
                name=name,
            )

    @classmethod
    def _from_variant(cls, variant, dtype, output_ragged_rank, input_ragged_rank=None, name=None):
        """What `_to_variant` made of a ragged tensor, or of the rows of one."""
        variant = convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
        if variant.shape.rank is not None and input_ragged_rank is not None:
            if output_ragged_rank != variant.shape.rank + input_ragged_rank:
                raise ValueError(
                    f"output_ragged_rank must be {variant.shape.rank + input_ragged_rank}, the dimensions of the "
                    f"variant and input_ragged_rank; got {output_ragged_rank}"
                )
        with name_scope(name, "RaggedFromVariant", [variant, dtype, input_ragged_rank, output_ragged_rank]):
            made = raw.RaggedTensorFromVariant(
                encoded_ragged=variant,
                input_ragged_rank=-1 if input_ragged_rank is None else input_ragged_rank,
                output_ragged_rank=output_ragged_rank,
                Tvalues=dtype,
                Tsplits=dtypes.int64,
                name=name,
            )
            return cls.from_nested_row_splits(
                made.output_dense_values, made.output_nested_splits, name=name, validate=False
            )

    def __iter__(self):
        if not self._is_eager():
            raise ValueError("A RaggedTensor of a graph can't be iterated over: its rows are known when it runs.")
        for i in range(int(self.nrows())):
            yield self[i]

    def __str__(self):
        return repr(self)

    def __repr__(self):
        if self._row_splits.is_eager:
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def _as_graph_element(self):
        return self._values if isinstance(self._values, Tensor) else self._values._as_graph_element()


def _nested(flat_values, partitions, build):
    result = flat_values
    for partition in reversed(list(partitions)):
        result = build(result, partition)
    return result


def _ends(lengths):
    return array.concat([[0], math.cumsum(lengths)], axis=0)


def _values_and(values, partition, name):
    """Values and a row partition as tensors of fitting types."""
    values = as_ragged_or_tensor(values, "values")
    wanted = values.row_splits.dtype if isinstance(values, RaggedTensor) else None
    partition = convert_to_tensor(
        partition,
        dtype=None if isinstance(partition, Tensor) else wanted,
        preferred_dtype=None if isinstance(partition, np.ndarray) else dtypes.int64,
        name=name,
    )
    if partition.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    if isinstance(values, RaggedTensor) and values.row_splits.dtype != partition.dtype:
        values, partition = values.with_row_splits_dtype(dtypes.int64), math.cast(partition, dtypes.int64)
    partition.shape.assert_has_rank(1)
    return values, partition


def _check_nested(argument, tensors):
    if isinstance(tensors, Tensor):
        raise TypeError(f"{argument} must be a list with a tensor for each ragged dimension, not {tensors}")


def as_ragged_or_tensor(value, name=None, dtype=None, preferred_dtype=None):
    """A RaggedTensor as it is, a RaggedTensorValue as constants, anything else as a Tensor."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and dtypes.as_dtype(dtype) != value.dtype:
            raise ValueError(
                f"{value!r} is of dtype {value.dtype.name}, not {dtypes.as_dtype(dtype).name}; cast it first"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor"):
            flat = convert_to_tensor(value.flat_values, dtype, "flat_values", preferred_dtype)
            return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)
    return convert_to_tensor(value, dtype, name, preferred_dtype)


def nvals(values, dtype):
    """How many rows `values` has, as a scalar tensor."""
    return values.nrows(dtype) if isinstance(values, RaggedTensor) else array.shape(values, out_type=dtype)[0]


def _static_rows(nrows):
    found = known_value(nrows)
    return None if found is None else int(found)


# Checks that run with the graph


class _Checks:
    """The checks that a row partition has to pass before it is used; last, that values have rows."""

    def __init__(self, maker, values):
        self._message = f"Arguments to {maker} do not form a valid RaggedTensor"
        self._values, self._made = values, []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None and not isinstance(self._values, RaggedTensor):
            self._made.append(shapes.assert_rank_at_least(self._values, 1))

    def rank(self, tensor, rank):
        self._made.append(shapes.assert_rank(tensor, rank))

    def zero(self, tensor):
        self.equal(tensor, array.constant(0, tensor.dtype))

    def equal(self, x, y):
        self._made.append(check.assert_equal(x, y, message=self._message))

    def less(self, x, y):
        self._made.append(check.assert_less(x, y, message=self._message))

    def at_most(self, x, y):
        self._made.append(check.assert_less_equal(x, y, message=self._message))

    def not_negative(self, tensor):
        self._made.append(check.assert_non_negative(tensor, message=self._message))

    def ascending(self, tensor):
        self.not_negative(tensor[1:] - tensor[:-1])

    def before(self, tensor):
        """The tensor, once all checks have passed."""
        return with_dependencies(self._made, tensor)
