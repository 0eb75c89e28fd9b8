"""tf.contrib.input_pipeline: a list of strings handed out in turn, its place kept in a variable and so in checkpoints."""

import random as _random

from everflow.framework import dtypes as _dtypes
from everflow.framework import raw_ops as _raw
from everflow.framework.registry import not_differentiable as _not_differentiable
from everflow.framework.registry import shape_rule as _shape_rule
from everflow.framework.scopes import colocate_with as _colocate_with
from everflow.framework.scopes import control_dependencies as _control_dependencies
from everflow.framework.shapes import scalar as _scalar
from everflow.ops.array import constant as _constant
from everflow.ops.variables.assign import count_up_to as _count_up_to
from everflow.ops.variables.scope import get_variable as _get_variable
from everflow.ops.variables.scope import variable_scope as _variable_scope

__all__ = ["obtain_next", "seek_next"]


def obtain_next(string_list_tensor, counter):
    """The next string of a list, forever: `counter` is an int64 variable, the place of the one before (at first -1)."""
    with _colocate_with(counter):
        return _raw.ObtainNext(list=string_list_tensor, counter=counter)


def seek_next(string_list, shuffle=False, seed=None, num_epochs=None):
    """The next string of a list, whose place is a variable of its own and so kept in checkpoints.

    Args:
        string_list: A list of strings.
        shuffle: Whether their order is chosen by chance, anew for each epoch.
        seed: What that choice begins with.
        num_epochs: After how many times through the list there is an OutOfRangeError; None for never.

    Returns:
        A string tensor, another one in each run.

    Example:
        >>> following = tf.contrib.input_pipeline.seek_next(["a", "b"])
        >>> _ = sess.run(tf.global_variables_initializer())
        >>> [sess.run(following) for _ in range(3)]
        [b'a', b'b', b'a']
    """
    handed_out = _in_order(string_list, shuffle, seed, num_epochs)
    with _variable_scope(None, "obtain_next"):
        counter = _get_variable(
            "obtain_next_counter", initializer=_constant(-1, dtype=_dtypes.int64), dtype=_dtypes.int64, trainable=False
        )
        with _colocate_with(counter):
            held = _get_variable("obtain_next_expanded_list", initializer=_constant(handed_out), trainable=False)
        if not num_epochs:
            return obtain_next(held, counter)
        count = _get_variable(
            "obtain_next_filename_counter", initializer=_constant(0, dtype=_dtypes.int64), trainable=False
        )
        with _control_dependencies([_count_up_to(count, limit=len(handed_out))]):
            return obtain_next(held, counter)


def _in_order(strings, shuffle, seed, num_epochs):
    """The strings of all epochs, one after another; where there is no end, of one."""
    chance = _random.Random(seed)
    found = []
    for _ in range(num_epochs or 1):
        found += chance.sample(strings, len(strings)) if shuffle else strings
    return found


@_shape_rule("ObtainNext")
def _obtain_next_shape(op):
    return _scalar()


_not_differentiable("ObtainNext")
