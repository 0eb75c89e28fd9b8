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
        sizes = (offset, shape[0] - extra_rows, new_col_vocab_size, extra_rows, num_col_oov_buckets)
        return _load_and_remap(ckpt_path, old_tensor_name, sizes, files, initializer, max_rows_in_memory)

    return remapped


def _load_and_remap(ckpt_path, old_tensor_name, sizes, files, initializer, max_rows_in_memory):
    offset, rows, columns, extra_rows, extra_columns = sizes
    if files["new_row_vocab_file"] and files["old_row_vocab_file"]:
        row_remapping, rows_present = raw.GenerateVocabRemapping(
            files["new_row_vocab_file"],
            files["old_row_vocab_file"],
            new_vocab_offset=offset,
            num_new_vocab=rows,
            old_vocab_size=files["old_row_vocab_size"],
        )
    else:
        row_remapping, rows_present = math.range(offset, offset + rows, dtype=dtypes.int64), rows
    if files["new_col_vocab_file"] and files["old_col_vocab_file"]:
        col_remapping, columns_present = raw.GenerateVocabRemapping(
            files["new_col_vocab_file"], files["old_col_vocab_file"], new_vocab_offset=0, num_new_vocab=columns
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
    if extra_rows > 0:
        result = array.concat([result, convert_to_tensor(initializer([extra_rows, columns]))], 0)
    if extra_columns > 0:
        result = array.concat([result, convert_to_tensor(initializer([rows + extra_rows, extra_columns]))], 1)
    return result


not_differentiable("GenerateVocabRemapping", "LoadAndRemapMatrix")


@shape_rule("GenerateVocabRemapping")
def _remapping_shape(op):
    return [TensorShape([op.attrs["num_new_vocab"]]), TensorShape([])]


@shape_rule("LoadAndRemapMatrix")
def _matrix_shape(op):
    return TensorShape([op.attrs["num_rows"], op.attrs["num_cols"]])
