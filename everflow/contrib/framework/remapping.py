"""Initializers from a checkpoint's embeddings, biases and slots, with rows in another vocabulary's order."""

from __future__ import annotations

from math import sqrt

from everflow.framework import dtypes
from everflow.ops.variables import initializers
from everflow.ops.vocabulary_remapping import load_and_remap_matrix_initializer
from everflow.platform.signatures import options_of, takes

_LOADED = {"initializer": None, "max_rows_in_memory": -1}


@takes({"old_vocab_size": -1, "num_oov_buckets": 0, **_LOADED})
def load_embedding_initializer(
    ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_file, new_vocab_file, **given
):
    """Embeddings of a checkpoint for a new vocabulary; words the old one lacks start at random."""
    if given["initializer"] is None:
        given["initializer"] = initializers.truncated_normal_initializer(stddev=1.0 / sqrt(embedding_dim))
    rows = _rows(old_vocab_file, new_vocab_file, given.pop("num_oov_buckets"))
    sizes = new_vocab_size, embedding_dim, given.pop("old_vocab_size")
    return load_and_remap_matrix_initializer(ckpt_path, embedding_tensor_name, *sizes, **rows, **given)


def _rows(old_vocab_file, new_vocab_file, num_oov_buckets):
    """Arguments that tell of rows alone; columns stay as they are."""
    files = {"old_row_vocab_file": old_vocab_file, "new_row_vocab_file": new_vocab_file}
    return {**files, "num_row_oov_buckets": num_oov_buckets}


@takes({"num_class_oov_buckets": 0, **_LOADED})
def load_linear_multiclass_bias_initializer(
    ckpt_path, bias_tensor_name, new_class_vocab_size, old_class_vocab_file, new_class_vocab_file, **given
):
    """Biases of a checkpoint, of shape [classes, 1], for a new set of classes; new ones start at zero."""
    rows = _rows(old_class_vocab_file, new_class_vocab_file, given.pop("num_class_oov_buckets"))
    return load_and_remap_matrix_initializer(ckpt_path, bias_tensor_name, new_class_vocab_size, 1, **rows, **given)


@takes(options_of(load_and_remap_matrix_initializer, ["old_row_vocab_size"]))
def load_variable_slot_initializer(
    ckpt_path, old_tensor_name, primary_partition_info, new_row_vocab_size, new_col_vocab_size, **given
):
    """As `load_and_remap_matrix_initializer`, for an optimizer's slot: it is made whole, for the part its variable is."""
    sizes = new_row_vocab_size, new_col_vocab_size
    made = load_and_remap_matrix_initializer(ckpt_path, old_tensor_name, *sizes, **given)
    return lambda shape, dtype=dtypes.float32, partition_info=None: made(shape, dtype, primary_partition_info)
