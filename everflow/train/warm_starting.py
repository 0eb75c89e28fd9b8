"""`tf.train.warm_start`: start a model from another one's checkpoint, by name, and with vocabularies reordered."""

from __future__ import annotations

import collections

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.ops.variables import assign as state
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.store import PartitionInfo
from everflow.ops.variables.variable import Variable
from everflow.ops.vocabulary_remapping import load_and_remap_matrix_initializer
from everflow.train.checkpoint_initialization import init_from_checkpoint
from everflow.train.checkpoint_reader import checkpoint_path
from everflow.train.tracking import names_in_object_checkpoint


class VocabInfo(
    collections.namedtuple(
        "VocabInfo",
        ["new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer", "axis"],
    )
):
    """The vocabulary that a variable's rows (or columns: `axis=1`) stand for, here and in the checkpoint.

    Args:
        new_vocab: The file of words here.
        new_vocab_size: How many of them count.
        num_oov_buckets: How many rows there are for other words.
        old_vocab: The file of words in the checkpoint.
        old_vocab_size: How many of them count; -1 for all.
        backup_initializer: What new words start as; zeros if None.
        axis: 0 for rows, 1 for columns.

    Example:
        >>> tf.estimator.VocabInfo("new.txt", 10, 1, "old.txt").old_vocab_size
        -1
    """

    def __new__(
        cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1, backup_initializer=None, axis=0
    ):
        if axis not in (0, 1):
            raise ValueError(f"`axis` says whether a vocabulary is of rows (0) or columns (1); it is {axis}")
        return super().__new__(
            cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis
        )


def warm_start(
    ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None, var_name_to_prev_var_name=None
):
    """Let variables start with the values of a checkpoint.

    Args:
        ckpt_to_initialize_from: A checkpoint, or a folder.
        vars_to_warm_start: A regular expression (trainable variables), a list of them (global ones) or of variables, or
            None for only those with a vocabulary.
        var_name_to_vocab_info: `tf.estimator.VocabInfo` by variables' names, whose rows are matched by words.
        var_name_to_prev_var_name: The names in the checkpoint, by variables' names, where they differ.

    Returns:
        None.

    Raises:
        ValueError: If a name doesn't fit.

    Example:
        >>> v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./model")
        >>> with tf.Graph().as_default(), tf.Session() as session:
        ...     v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        ...     tf.train.warm_start(path)
        ...     session.run(v.initializer)
        ...     print(session.run(v))
        np.float32(1.0)
        1.0
    """
    vocabularies = var_name_to_vocab_info or {}
    previous_names = var_name_to_prev_var_name or {}
    found = _variables_by_name(vars_to_warm_start)
    _check_used(previous_names, found, "var_name_to_prev_var_name")
    _check_used(vocabularies, found, "var_name_to_vocab_info")
    by_objects = _get_object_checkpoint_renames(checkpoint_path(ckpt_to_initialize_from), found)
    plain = {}
    for name, parts in found.items():
        previous = previous_names.get(name) or by_objects.get(name) or name
        if name in vocabularies:
            _start_with_vocabulary(parts, ckpt_to_initialize_from, previous, vocabularies[name])
        elif vars_to_warm_start:
            plain[previous] = parts[0] if len(parts) == 1 else parts
    init_from_checkpoint(ckpt_to_initialize_from, plain)


def _get_object_checkpoint_renames(path, variable_names):
    """{variable's name: its key} where a checkpoint holds objects; its name inside TensorFlow."""
    keys = names_in_object_checkpoint(path) or {}
    return {name: keys[name] for name in variable_names if name in keys}


def _check_used(names, found, argument):
    unused = sorted(set(names) - set(found))
    if unused:
        raise ValueError(
            f"{argument} has names that were not used: {unused}. No variable that is warm-started is called so"
        )


def _variables_by_name(vars_to_warm_start):
    """Name in a checkpoint → the variable in a list, or its parts."""
    chosen = vars_to_warm_start
    if isinstance(chosen, str) or chosen is None:
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=chosen)
    elif isinstance(chosen, list) and all(isinstance(v, str) for v in chosen):
        variables = [v for pattern in chosen for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=pattern)]
    elif isinstance(chosen, list) and all(isinstance(v, (Variable, PartitionedVariable)) for v in chosen):
        variables = [part for v in chosen for part in (v if isinstance(v, PartitionedVariable) else [v])]
    else:
        raise ValueError(
            f"`vars_to_warm_start` is a regular expression, a list of strings, a list of variables or None, "
            f"not {chosen!r}"
        )
    found: dict[str, list] = {}
    for variable in variables:
        info = variable._get_save_slice_info()
        found.setdefault(variable.op.name if info is None else info.full_name, []).append(variable)
    return found


def _start_with_vocabulary(parts, checkpoint, tensor_name, vocabulary):
    total_rows = sum(part.get_shape().as_list()[0] for part in parts)
    for part in parts:
        shape = part.get_shape().as_list()
        info = part._get_save_slice_info()
        partition = None if info is None else PartitionInfo(full_shape=info.full_shape, var_offset=info.var_offset)
        if vocabulary.axis == 0:
            options = {
                "new_row_vocab_size": vocabulary.new_vocab_size,
                "new_col_vocab_size": shape[1],
                "old_row_vocab_size": vocabulary.old_vocab_size,
                "old_row_vocab_file": vocabulary.old_vocab,
                "new_row_vocab_file": vocabulary.new_vocab,
                "num_row_oov_buckets": vocabulary.num_oov_buckets,
            }
        else:
            options = {
                "new_row_vocab_size": total_rows,
                "new_col_vocab_size": vocabulary.new_vocab_size,
                "old_col_vocab_file": vocabulary.old_vocab,
                "new_col_vocab_file": vocabulary.new_vocab,
                "num_col_oov_buckets": vocabulary.num_oov_buckets,
            }
        initializer = load_and_remap_matrix_initializer(
            checkpoint_path(checkpoint), tensor_name, initializer=vocabulary.backup_initializer, **options
        )
        value = convert_to_tensor(initializer(shape=shape, partition_info=partition))
        part._initializer_op = state.assign(part, value).op
