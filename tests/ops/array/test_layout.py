"""Padding, repeating and reordering along axes."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), lambda a: a.transpose(2, 0, 1)),
    "matrix_transpose": (tf.matrix_transpose, lambda a: a.swapaxes(1, 2)),
    "tile": (lambda x: tf.tile(x, [1, 2, 1]), lambda a: np.tile(a, [1, 2, 1])),
    "reverse": (lambda x: tf.reverse(x, [0, -1]), lambda a: a[::-1, :, ::-1]),
    "roll": (lambda x: tf.roll(x, [1, -1], [1, 2]), lambda a: np.roll(a, [1, -1], [1, 2])),
    "reflect": (
        lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 3]], "REFLECT"),
        lambda a: np.pad(a, [[0, 1], [2, 0], [1, 3]], "reflect"),
    ),
    "symmetric": (
        lambda x: tf.pad(x, [[0, 2], [3, 0], [1, 4]], "SYMMETRIC"),
        lambda a: np.pad(a, [[0, 2], [3, 0], [1, 4]], "symmetric"),
    ),
    "pad value": (
        lambda x: tf.pad(x, [[1, 0], [0, 0], [0, 2]], constant_values=x[0, 0, 1]),
        lambda a: np.concatenate(
            [np.full((1, 3, 6), a[0, 0, 1], a.dtype), np.concatenate([a, np.full((2, 3, 2), a[0, 0, 1], a.dtype)], 2)]
        ),
    ),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


EMPTY = {
    "tile": (lambda: tf.tile(tf.ones([2, 3]), [0, 1]), (0, 3)),
    "pad": (lambda: tf.pad(tf.zeros([0, 2]), [[1, 0], [0, 0]]), (1, 2)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    "must be less than the dimension size": lambda: tf.pad(fed(B), [[2, 0], [0, 0]], "REFLECT"),
    "Paddings must be non-negative": lambda: tf.pad(fed(B), fed([[-1, 1], [0, 0]])),
    r"Expected multiples\[0\] >= 0": lambda: tf.tile(fed(B), fed([-1, 1])),
    "is missing from": lambda: tf.transpose(fed(B), fed([0, 0])),
    "specified more than once": lambda: tf.reverse(fed(B), fed([0, 0])),
    r"seq_lens\(0\) > input": lambda: tf.reverse_sequence(fed(B), [5, 1], seq_axis=1),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


BUILD_ERRORS = {
    "pad mode": lambda: tf.pad(tf.zeros([3]), [[1, 1]], "EDGE"),
    "transpose": lambda: tf.transpose(tf.zeros([2, 3]), [0, 1, 2]),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()
