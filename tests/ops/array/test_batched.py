"""Gathers that leave leading batch dimensions alone, and those of single elements."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "gather_nd": (lambda x: tf.gather_nd(x, [[1, 2], [0, 0]]), lambda a: a[[1, 0], [2, 0]]),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


EMPTY = {
    "gather_nd of nothing": (lambda: tf.gather_nd(tf.ones([3, 2]), tf.zeros([4, 0], tf.int32)), (4, 3, 2)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    r"does not index into param shape \[2,3\]": lambda: tf.gather_nd(fed(B), [[2, 0]]),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


P = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("batch_dims", [0, 1, 2])
def test_gather_nd_inside_of_batches(batch_dims):
    indices = np.array([[[0], [1]], [[1], [0]]][: 2 if batch_dims else 1] * 1)
    indices = np.stack([indices[:, :1, 0]] * 3, 1) if batch_dims == 2 else indices
    made = tf.gather_nd(P, indices, batch_dims=batch_dims)
    wanted = {
        0: lambda: P[indices[..., 0]],
        1: lambda: np.stack([P[b][indices[b, :, 0]] for b in range(2)]),
        2: lambda: np.stack([[P[b, c, indices[b, c, 0]] for c in range(3)] for b in range(2)]),
    }[batch_dims]()
    np.testing.assert_array_equal(run(made), wanted)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_batches_of_rows_whose_sizes_only_the_run_tells(dtype):
    params = tf.placeholder(tf.int64, [None, None, None])
    made = tf.batch_gather(params, np.array([[2, 0], [1, 1]], dtype))
    assert made.shape.as_list() == [2, 2, None]
    np.testing.assert_array_equal(run(made, feed={params: P}), np.stack([P[0][[2, 0]], P[1][[1, 1]]]))


@pytest.mark.parametrize("one", [np.int32(1), np.int64(1), np.array(1), tf.Dimension(1), 1.0, lambda: tf.constant(1)])
def test_gather_nd_takes_any_known_number_of_batch_dimensions(one):
    made = tf.gather_nd(P, [[[0], [1]], [[1], [0]]], batch_dims=one() if callable(one) else one)
    np.testing.assert_array_equal(run(made), np.stack([P[0][[0, 1]], P[1][[1, 0]]]))


def test_ranks_and_batch_dimensions_that_cannot_be():
    with pytest.raises(ValueError):
        tf.batch_gather(P, tf.placeholder(tf.int32))
    with pytest.raises(ValueError):
        tf.gather_nd(P, [[0]], batch_dims=2)
    with pytest.raises(ValueError):
        tf.gather_nd(P, [[0]], batch_dims=-1)
