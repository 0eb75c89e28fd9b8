"""Masks, grids, repeats, sorting, searching and edit distances."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, False, True], axis=1), lambda a: a[:, [0, 2]]),
    "repeat": (lambda x: tf.repeat(x, [0, 2, 1], axis=1), lambda a: np.repeat(a, [0, 2, 1], 1)),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


EMPTY = {
    "mask": (lambda: tf.boolean_mask(tf.ones([3, 2]), [False] * 3), (0, 2)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


BUILD_ERRORS = {
    "scalar mask": lambda: tf.boolean_mask([1], True),
    "sort direction": lambda: tf.sort([1], direction="UP"),
    "meshgrid": lambda: tf.meshgrid([1], indexing="yx"),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()


def test_sorting_and_searching():
    values = run(
        tf.sort([3, 1, 2]),
        tf.argsort([[3.0, 1.0], [2.0, 5.0]], axis=0, direction="DESCENDING"),
        tf.searchsorted([1, 3, 3, 5], [3, 9], side="right"),
    )
    assert [v.tolist() for v in values] == [[1, 2, 3], [[0, 1], [1, 0]], [3, 4]]


def test_edit_distances():
    said = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [3, 2])
    meant = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "c", "d"], [3, 2])
    assert run(tf.edit_distance(said, meant)).tolist() == [1.0, 0.5, 0.0]
    assert run(tf.edit_distance(said, meant, normalize=False)).tolist() == [1.0, 1.0, 0.0]


def test_sequences_that_are_compared_have_a_batch_and_as_many_axes():
    one = tf.SparseTensor([[0]], [1], [1])
    two = tf.SparseTensor([[0, 0]], [1], [1, 1])
    with pytest.raises(ValueError, match="axes"):
        tf.edit_distance(one, two)
    with pytest.raises(tf.errors.InvalidArgumentError, match="two axes"):
        run(tf.edit_distance(one, one))
