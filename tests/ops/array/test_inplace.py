"""Rows changed by the functions of inplace_ops: as values of their own."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.array import inplace
from tests.ops.array.against_numpy import run

pytestmark = pytest.mark.usefixtures("own_graph")
START = np.arange(6, dtype=np.float32).reshape(3, 2)


def changed(name, at, by):
    result = START.copy()
    if at is None:
        at = slice(None)
    result[at] = {"update": lambda old: by, "add": lambda old: old + by, "sub": lambda old: old - by}[name](result[at])
    return result


@pytest.mark.parametrize("prefix", ["inplace_", "alias_inplace_"])
@pytest.mark.parametrize("name", ["update", "add", "sub"])
@pytest.mark.parametrize(("at", "by"), [(1, [8.0, 9.0]), ([2, 0], [[8.0, 9.0], [6.0, 7.0]]), (None, -START)])
def test_rows_change(prefix, name, at, by):
    made = getattr(inplace, prefix + name)(START, at, by)
    assert made.shape.as_list() == [3, 2]
    np.testing.assert_array_equal(run(made), changed(name, at, np.array(by)))


def test_what_is_changed_stays_as_it_was_elsewhere():
    x = tf.placeholder(tf.float32, [3, 2])
    before, after = run(x + 0.0, inplace.inplace_add(x, 0, [1.0, 1.0]), feed={x: START})
    np.testing.assert_array_equal(before, START)
    np.testing.assert_array_equal(after[0], START[0] + 1)


def test_an_empty_tensor_like_another():
    made = inplace.empty_like(tf.ones([2, 3], tf.int32), init=True)
    assert made.dtype == tf.int32 and made.shape.as_list() == [2, 3]
    assert not run(made).any()
