"""Initializers that take a matrix from a checkpoint and put its rows or columns into the order of another vocabulary."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.variables import initializers


def load_and_remap_matrix_initializer(
    ckpt_path,
    old_tensor_name,
    new_row_vocab_size,
    new_col_vocab_size,
    old_row_vocab_size=-1,
    old_row_vocab_file=None,
    new_row_vocab_file=None,
    old_col_vocab_file=None,
    new_col_vocab_file=None,
    num_row_oov_buckets=0,
    num_col_oov_buckets=0,
    initializer=None,
    max_rows_in_memory=-1,
):
    """An initializer for (a part of) a matrix; `initializer` fills what the old vocabulary lacks, with zeros unless
    given.
    """
    if initializer is None:
        initializer = initializers.zeros_initializer()
    if not callable(initializer):
        raise TypeError(f"initializer must be callable, not {initializer!r}")
    files = {
        "old_row_vocab_size": old_row_vocab_size,
        "old_row_vocab_file": old_row_vocab_file,
        "new_row_vocab_file": new_row_vocab_file,
        "old_col_vocab_file": old_col_vocab_file,
        "new_col_vocab_file": new_col_vocab_file,
    }

    def remapped(shape, dtype=dtypes.float32, partition_info=None):
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        if len(shape) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise ValueError(f"There must be at least one row; got the shape {shape}")
        if shape[1] != new_col_vocab_size + num_col_oov_buckets:
            raise ValueError(
                f"A row has {new_col_vocab_size} columns of words and {num_col_oov_buckets} beyond them; got the shape {shape}"
            )
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        if offset + shape[0] > new_row_vocab_size + num_row_oov_buckets:
            raise ValueError(
                f"{offset} rows and {shape[0]} more are asked for, but there are new_row_vocab_size={new_row_vocab_size} and "
                f"num_row_oov_buckets={num_row_oov_buckets}"
            )
        extra_rows = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:  # a part of words beyond the vocabulary only
            return initializer(shape)
        return load_and_remap_matrix(
            ckpt_path,
            old_tensor_name,
            offset,
            shape[0] - extra_rows,
            new_col_vocab_size,
            initializer,
            num_row_oov_buckets=extra_rows,
            num_col_oov_buckets=num_col_oov_buckets,
            max_rows_in_memory=max_rows_in_memory,
            **files,
        )

    return remapped


def load_and_remap_matrix(
    ckpt_path,
    old_tensor_name,
    new_row_vocab_offset,
    num_rows_to_load,
    new_col_vocab_size,
    initializer,
    old_row_vocab_size=-1,
    old_row_vocab_file=None,
    new_row_vocab_file=None,
    old_col_vocab_file=None,
    new_col_vocab_file=None,
    num_row_oov_buckets=0,
    num_col_oov_buckets=0,
    max_rows_in_memory=-1,
):
    """Rows of a checkpoint's matrix, in the order of another vocabulary; `initializer` fills what the old one lacks."""
    for name, count in (("num_row_oov_buckets", num_row_oov_buckets), ("num_col_oov_buckets", num_col_oov_buckets)):
        if count < 0:
            raise ValueError(f"{name} is how many rows or columns there are beyond the words, 0 or more, not {count}")
    if not new_row_vocab_file and not new_col_vocab_file:
        raise ValueError("Neither rows nor columns have files of words, so there is no order to bring them into")
    offset, rows, columns = new_row_vocab_offset, num_rows_to_load, new_col_vocab_size
    if _both_or_none(old_row_vocab_file, new_row_vocab_file, "row"):
        row_remapping, rows_present = raw.GenerateVocabRemapping(
            new_row_vocab_file,
            old_row_vocab_file,
            new_vocab_offset=offset,
            num_new_vocab=rows,
            old_vocab_size=old_row_vocab_size,
        )
    else:
        row_remapping, rows_present = math.range(offset, offset + rows, dtype=dtypes.int64), rows
    if _both_or_none(old_col_vocab_file, new_col_vocab_file, "col"):
        col_remapping, columns_present = raw.GenerateVocabRemapping(
            new_col_vocab_file, old_col_vocab_file, new_vocab_offset=0, num_new_vocab=columns
        )
    else:
        col_remapping, columns_present = [], columns
    filling = initializer([rows * columns - rows_present * columns_present, 1])
    result = raw.LoadAndRemapMatrix(
        ckpt_path,
        old_tensor_name,
        row_remapping,
        col_remapping,
        filling,
        num_rows=rows,
        num_cols=columns,
        max_rows_in_memory=max_rows_in_memory,
    )
    if num_row_oov_buckets > 0:
        result = array.concat([result, convert_to_tensor(initializer([num_row_oov_buckets, columns]))], 0)
    if num_col_oov_buckets > 0:
        beyond = initializer([rows + num_row_oov_buckets, num_col_oov_buckets])
        result = array.concat([result, convert_to_tensor(beyond)], 1)
    return result


def _both_or_none(old, new, what):
    if bool(old) != bool(new):
        raise ValueError(f"old_{what}_vocab_file and new_{what}_vocab_file go together; got {old!r} and {new!r}")
    return bool(new)


not_differentiable("GenerateVocabRemapping", "LoadAndRemapMatrix")


@shape_rule("GenerateVocabRemapping")
def _remapping_shape(op):
    return [TensorShape([op.attrs["num_new_vocab"]]), TensorShape([])]


@shape_rule("LoadAndRemapMatrix")
def _matrix_shape(op):
    return TensorShape([op.attrs["num_rows"], op.attrs["num_cols"]])
