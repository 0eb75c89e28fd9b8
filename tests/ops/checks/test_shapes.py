"""Assertions about ranks, shapes and types: decided while building where that can be."""

import numpy as np
import pytest

import everflow as tf


def test_ranks(sess):
    x = tf.placeholder(tf.float32)
    for op, good, bad in (
        (tf.assert_rank(x, 2), (1, 1), (1,)),
        (tf.assert_rank_at_least(x, 2), (1, 1, 1), (1,)),
        (tf.assert_rank_in(x, (0, 2)), (), (1,)),
    ):
        sess.run(op, {x: np.zeros(good)})
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(op, {x: np.zeros(bad)})


def test_known_ranks_are_decided_while_building():
    x = tf.zeros([2, 3])
    assert tf.assert_rank(x, 2).type == "NoOp"
    for check, rank in ((tf.assert_rank, 3), (tf.assert_rank_at_least, 3), (tf.assert_rank_in, (1, 3))):
        with pytest.raises(ValueError, match=r"must have rank.*not 2 \(its shape is \(2, 3\)\)"):
            check(x, rank)
    with pytest.raises(ValueError, match="Rank must be a scalar"):
        tf.assert_rank(x, [2])


def test_types():
    x = tf.zeros([2])
    assert tf.assert_type(x, tf.float32).type == "NoOp"
    with pytest.raises(TypeError, match="must be of type"):
        tf.assert_type(x, tf.int32)
    with pytest.raises(TypeError, match="to be integer type"):
        tf.assert_integer(x)
    with pytest.raises(ValueError, match="Expected scalar shape"):
        tf.assert_scalar(x)
    assert tf.debugging.assert_same_float_dtype([x, None, x]) is tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.debugging.assert_same_float_dtype([x, tf.zeros([1], tf.float64)])
    for bad in ("text", 5, x):
        with pytest.raises(TypeError, match="iterable"):
            tf.assert_proper_iterable(bad)


def test_shapes_that_go_together(sess):
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
    op = tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))])
    sess.run(op, {x: np.zeros((2, 3)), y: np.zeros(2)})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(op, {x: np.zeros((2, 3)), y: np.zeros(4)})
    with pytest.raises(ValueError, match="must have size 4"):
        tf.debugging.assert_shapes({x: ("N", 4)})


def test_symbols_stand_for_one_size_each(sess):
    x, y = tf.zeros([2, 3]), tf.zeros([3, 2])
    sess.run(tf.debugging.assert_shapes([(x, ("A", "B")), (y, ("B", "A")), (tf.zeros([2]), ("A",))]))
    sess.run(tf.debugging.assert_shapes([(x, ("A", ".")), (y, (None, "A"))]))
    with pytest.raises(ValueError):
        tf.debugging.assert_shapes([(x, ("A", "B")), (y, ("A", "B"))])
    with pytest.raises(ValueError):
        tf.debugging.assert_shapes([(x, ("A", "B", "C"))])
    with pytest.raises(ValueError):
        tf.debugging.assert_shapes([(x, 3)])


def test_a_scalar_passes_for_a_vector_of_one(sess):
    x = tf.placeholder(tf.float32)
    check = tf.debugging.assert_shapes([(x, (1,))])
    sess.run(check, {x: 5.0})
    sess.run(check, {x: [5.0]})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(check, {x: [5.0, 6.0]})
    sess.run(tf.debugging.assert_shapes([(tf.constant(1.0), ())]))


def test_a_rank_that_only_the_run_tells(sess):
    x, rank = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    check = tf.assert_rank(x, rank, message="no matrix")
    sess.run(check, {x: [[1.0]], rank: 2})
    with pytest.raises(tf.errors.InvalidArgumentError, match="no matrix"):
        sess.run(check, {x: [1.0], rank: 2})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(check, {x: [[1.0]], rank: [2]})


def test_ranks_are_int32():
    with tf.Graph().as_default(), pytest.raises(TypeError):
        tf.assert_rank(tf.zeros([2]), 1.0)


def test_sparse_tensors_have_types():
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    assert tf.assert_type(sparse, tf.float32).type == "NoOp"
    with pytest.raises(TypeError):
        tf.assert_type(sparse, tf.int32)


@pytest.mark.parametrize(
    ("tensors", "dtype", "expected"),
    [(None, None, tf.float32), ([], tf.float64, tf.float64), ([None], None, tf.float32)],
)
def test_the_float_type_of_nothing(tensors, dtype, expected):
    assert tf.debugging.assert_same_float_dtype(tensors, dtype) == expected


def test_whole_numbers_have_no_float_type():
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.debugging.assert_same_float_dtype([tf.constant(1)])
