"""Tensors joined and split."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "concat": (lambda x: tf.concat([x, x[:, :1]], 1), lambda a: np.concatenate([a, a[:, :1]], 1)),
    "stack": (lambda x: tf.stack([x, x], -1), lambda a: np.stack([a, a], -1)),
    "unstack": (lambda x: tf.unstack(x, axis=1)[2], lambda a: a[:, 2]),
    "split": (lambda x: tf.split(x, [1, -1], 2)[1], lambda a: a[:, :, 1:]),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


EMPTY = {
    "concat": (lambda: tf.concat([tf.zeros([0, 3]), tf.ones([2, 3])], 0), (2, 3)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    "Dimensions of inputs should match": lambda: tf.concat([fed(B), fed([[1]])], 0),
    "Ranks of all input tensors should match": lambda: tf.concat([fed(B), fed([1])], 0),
    "Shapes of all inputs must match": lambda: tf.stack([fed(B), fed([1])]),
    "should evenly divide": lambda: tf.split(fed(B), 2, 1),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


BUILD_ERRORS = {
    "stack axis": lambda: tf.stack([[1], [2]], axis=3),
    "unstack unknown": lambda: tf.unstack(tf.placeholder(tf.float32, [None])),
    "concat": lambda: tf.concat([tf.zeros([2, 3]), tf.zeros([3, 3])], 1),
    "split": lambda: tf.split(tf.zeros([3]), 2),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()


def test_parts_copied_as_they_arrive():
    made = tf.parallel_stack([[1, 2], [3, 4]])
    assert made.shape.as_list() == [2, 2] and run(made).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError):
        tf.parallel_stack([tf.placeholder(tf.float32, [None])])


def test_quantised_tensors_have_a_range_together():
    first, second = (
        tf.quantize_v2(v, low, high, tf.quint8) for v, low, high in (([0.0, 1.0], 0.0, 1.0), ([4.0], 0.0, 4.0))
    )
    joined, low, high = tf.quantized_concat(0, [first[0], second[0]], [first[1], second[1]], [first[2], second[2]])
    assert joined.shape.as_list() == [3] and low.shape.as_list() == []
    np.testing.assert_allclose(run(tf.dequantize(joined, low, high)), [0, 1, 4], atol=0.02)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.split([1, 2, 3], tf.placeholder(tf.int32)), ValueError),
        (lambda: tf.split([1, 2, 3], tf.constant(3)), ValueError),
        (lambda: tf.split([1, 2, 3], [1, 1]), ValueError),
        (lambda: tf.split([1, 2, 3], [-1, -1]), ValueError),
        (lambda: tf.split([1, 2, 3], [4, -1]), ValueError),
        (lambda: tf.split([1, 2, 3], 3, axis=1), ValueError),
        (lambda: tf.concat([[1, 2]], [0]), ValueError),
        (lambda: tf.concat([[1, 2], [3]], 1), ValueError),
        (lambda: tf.concat([[1], [[2]]], 0), ValueError),
        (lambda: tf.unstack([1, 2], axis=1), ValueError),
        (lambda: tf.unstack([1, 2], num=3), ValueError),
        (lambda: tf.stack([[1, 2], [3]]), ValueError),
    ],
)
def test_more_that_can_never_fit(build, error):
    with pytest.raises(error):
        build()
