"""Picking and placing by index: gathers, scatters, choices, partitions."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.array import indexing
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "gather": (lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=1), lambda a: np.take(a, [[2, 0], [1, 1]], 1)),
    "batch_gather": (
        lambda x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        lambda a: np.stack([a[0][[2, 0]], a[1][[1, 1]]]),
    ),
    "where": (lambda x: tf.where([False, True], x, x[::-1]), lambda a: np.stack([a[1], a[1]])),
    "where_v2": (
        lambda x: tf.where_v2([[[True]], [[False]]], x, x[0, 0, 0]),
        lambda a: np.stack([a[0], np.full_like(a[1], a[0, 0, 0])]),
    ),
    "dynamic_stitch": (lambda x: tf.dynamic_stitch([[1, 0], [2, 1]], [x, x]), lambda a: np.stack([a[1], a[1], a[0]])),
    "dynamic_partition": (lambda x: tf.dynamic_partition(x, [1, 0], 2)[0], lambda a: a[1:]),
    "scatter_update": (lambda x: tf.tensor_scatter_update(x, [[0], [0]], [x[1], x[0]]), lambda a: a),
    "one_hot": (
        lambda x: tf.one_hot([1, -1], 2, x[0, 0, 1], x[0, 0, 0]),
        lambda a: np.stack([a[0, 0, :2], a[0, 0, [0, 0]]]),
    ),
    "unique": (lambda x: tf.unique(tf.concat([x[0, 0], x[0, 0]], 0))[0], lambda a: a[0, 0]),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


EMPTY = {
    "gather": (lambda: tf.gather(tf.ones([3, 2]), tf.zeros([0], tf.int32)), (0, 2)),
    "where": (lambda: tf.where(tf.zeros([0, 2], tf.bool)), (0, 2)),
    "one_hot": (lambda: tf.one_hot([0, 1], 0), (2, 0)),
    "stitch": (lambda: tf.dynamic_stitch([tf.zeros([0], tf.int32)], [tf.zeros([0, 2])]), (0, 2)),
    "scatter": (lambda: tf.scatter_nd(tf.zeros([0, 1], tf.int32), tf.zeros([0, 2]), [3, 2]), (3, 2)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    r"indices\[1\] = 2 is not in \[0, 2\)": lambda: tf.gather(fed(B), [0, 2]),
    r"indices\[0\] = -1 is not in \[0, 2\)": lambda: tf.gather(fed(B), [-1]),
    r"does not index into shape \[3\]": lambda: tf.scatter_nd([[5]], [1], [3]),
    "must have the same size": lambda: tf.where(fed(True), fed(B), fed([1])),
    r"partitions\[1\] = 5 is not in \[0, 2\)": lambda: tf.dynamic_partition(fed([1, 2]), [0, 5], 2)[0],
    "unique expects a 1D vector": lambda: tf.unique(fed(B))[0],
    "is duplicated in the input": lambda: tf.invert_permutation(fed([0, 0])),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


BUILD_ERRORS = {
    "gather of a scalar": lambda: tf.gather(3.0, 0),
    "where with one": lambda: tf.where([True], [1]),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()


def test_flat_indices_become_vectors():
    assert run(tf.unravel_index([22, 5], [4, 6])).tolist() == [[3, 0], [4, 5]]
    assert run(tf.unravel_index(7, [2, 2, 2])).tolist() == [1, 1, 1]
    assert tf.unravel_index(tf.placeholder(tf.int32, [5]), [4, 6]).shape.as_list() == [2, 5]
    assert run(tf.unravel_index(fed([24]), [4, 6])).tolist() == [[0], [0]]  # beyond the end it begins anew


@pytest.mark.parametrize("stitch", [tf.dynamic_stitch, indexing.parallel_dynamic_stitch])
def test_rows_are_stitched(stitch):
    indices, data = [[6, 1], [[2, 4], [0, 5]], 3], [[61, 11], [[21, 41], [1, 51]], 31]
    made = stitch(indices, data)
    assert made.shape.as_list() == [7] and run(made).tolist() == [1, 11, 21, 31, 41, 51, 61]
    assert run(stitch([[3]], [[5]])).shape == (4,)


def test_values_that_differ():
    values, places, counts = run(*tf.unique_with_counts([7, 3, 7, 7], out_idx=tf.int64))
    assert (values.tolist(), places.tolist(), counts.tolist()) == ([7, 3], [0, 1, 0, 0], [3, 1])
    assert counts.dtype == np.int64
    left, where = run(*tf.setdiff1d([1, 2, 3, 2], [2, 9]))
    assert (left.tolist(), where.tolist()) == ([1, 3], [0, 2])
    assert run(tf.invert_permutation([2, 0, 1])).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.one_hot([0], -1), ValueError),
        (lambda: tf.one_hot([0], 2, axis=-2), ValueError),
        (lambda: tf.one_hot([0], [2]), ValueError),
        (lambda: tf.one_hot([0], 2, on_value=1, off_value=0.0), TypeError),
        (lambda: tf.one_hot([0], 2, on_value=1, dtype=tf.float32), TypeError),
        (lambda: tf.scatter_nd([[0]], [1, 2], [3]), ValueError),
        (lambda: tf.tensor_scatter_update(tf.zeros([2, 3]), [[0]], [[1.0]]), ValueError),
        (lambda: tf.dynamic_partition([1, 2], [[0], [1]], 2), ValueError),
        (lambda: tf.gather([[1]], [[0]], axis=2), ValueError),
        (lambda: tf.where([True, False], [1, 2], [1, 2, 3]), ValueError),
        (lambda: tf.setdiff1d([[1]], [1]), ValueError),
    ],
)
def test_more_that_can_never_fit(build, error):
    with pytest.raises(error):
        build()
