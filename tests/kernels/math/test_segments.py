"""Sums over segments: empty ones, ids in any order, and ids that can't be."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels import registry
from tests.kernels.feeding import fed

ROWS = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.float32)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.segment_sum, [[4, 6], [0, 0], [12, 14]]),
        (tf.segment_mean, [[2, 3], [0, 0], [6, 7]]),
        (tf.segment_prod, [[3, 8], [1, 1], [35, 48]]),
        (tf.segment_max, [[3, 4], [0, 0], [7, 8]]),
        (tf.segment_min, [[1, 2], [0, 0], [5, 6]]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, np.int64, np.uint8, np.uint16])
def test_ids_that_are_left_out_give_a_row_of_their_own(sess, function, expected, dtype):
    found = sess.run(function(fed(ROWS.astype(dtype)), fed([0, 0, 2, 2])))
    assert found.dtype == dtype and found.tolist() == expected


@pytest.mark.parametrize(
    ("function", "empty"),
    [
        (tf.unsorted_segment_sum, 0),
        (tf.unsorted_segment_prod, 1),
        (tf.unsorted_segment_max, np.finfo(np.float32).min),
        (tf.unsorted_segment_min, np.finfo(np.float32).max),
    ],
)
def test_negative_ids_are_dropped_and_ids_may_have_any_shape(sess, function, empty):
    found = sess.run(function(fed(ROWS), fed([[2, -1], [-1, 0], [2, 2], [-5, 0]]), 4))
    reduce = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[function.__name__.split("_")[-1]]
    np.testing.assert_array_equal(found, [reduce([4.0, 8]), empty, reduce([1.0, 5, 6]), empty])


def test_extremes_of_unsigned_numbers(sess):
    x = np.array([2**16 - 1, 1, 2], np.uint16)
    assert sess.run(tf.unsorted_segment_max(fed(x), fed([0, 0, 2]), 3)).tolist() == [2**16 - 1, 0, 2]
    assert sess.run(tf.unsorted_segment_min(fed(x), fed([0, 0, 2]), 3)).tolist() == [1, 2**16 - 1, 2]


@pytest.mark.parametrize(
    ("function", "divide"),
    [
        (tf.sparse_segment_sum, lambda n: 1),
        (tf.sparse_segment_mean, lambda n: n),
        (tf.sparse_segment_sqrt_n, lambda n: n**0.5),
    ],
)
def test_rows_by_index(sess, function, divide):
    indices, ids = fed([3, 0, 0]), fed([0, 0, 1])
    short, longer = sess.run([function(ROWS, indices, ids), function(ROWS, indices, ids, num_segments=4)])
    wanted = np.array([(ROWS[3] + ROWS[0]) / divide(2), ROWS[0]])
    np.testing.assert_allclose(short, wanted, rtol=1e-6)
    np.testing.assert_allclose(longer, np.concatenate([wanted, np.zeros((2, 2))]), rtol=1e-6)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.segment_sum(fed(ROWS), fed([0, 1, 0, 1])), "segment ids are not increasing"),
        (lambda: tf.segment_sum(fed(ROWS), fed([0, 1])), "same size as dimension 0"),
        (lambda: tf.segment_max(fed(ROWS), fed([[0, 1, 2, 3]])), "segment_ids should be a vector"),
        (
            lambda: tf.unsorted_segment_sum(fed(ROWS), fed([0, 1, 5, 0]), 3),
            r"segment_ids\[2\] = 5 is out of range \[0, 3\)",
        ),
        (lambda: tf.unsorted_segment_sum(fed(ROWS), fed([0, 1, 1, 0]), fed(-1)), "must not be negative"),
        (lambda: tf.unsorted_segment_sum(fed(ROWS), fed([0, 1]), 3), "does not start with segment_ids.shape"),
        (lambda: tf.sparse_segment_sum(ROWS, fed([0, 4]), fed([0, 1])), r"indices\[1\] == 4 out of range \[0, 4\)"),
        (lambda: tf.sparse_segment_sum(ROWS, fed([0]), fed([0, 1])), "same size"),
        (
            lambda: tf.sparse_segment_mean(ROWS, fed([0]), fed([5]), num_segments=3),
            "segment ids must be < num_segments",
        ),
        (
            lambda: tf.raw_ops.SparseSegmentMeanGrad(grad=ROWS, indices=fed([9]), segment_ids=fed([0]), output_dim0=4),
            r"Index 9 out of range \[0, 4\)",
        ),
        (
            lambda: tf.raw_ops.SparseSegmentSqrtNGrad(grad=ROWS, indices=fed([0]), segment_ids=fed([7]), output_dim0=4),
            "Invalid number of segments",
        ),
    ],
)
def test_ids_that_can_not_be(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


def test_shares_go_back_to_the_rows_they_came_from(sess):
    grad = np.float32([[6, 6], [2, 4]])
    mean, root = sess.run(
        [
            op(grad=grad, indices=[0, 1, 1], segment_ids=[0, 0, 1], output_dim0=3)
            for op in (tf.raw_ops.SparseSegmentMeanGrad, tf.raw_ops.SparseSegmentSqrtNGrad)
        ]
    )
    np.testing.assert_allclose(mean, [[3, 3], [5, 7], [0, 0]])
    np.testing.assert_allclose(root, np.array([grad[0], grad[0] + grad[1] * 2**0.5, [0, 0]]) / 2**0.5, rtol=1e-6)


def test_no_rows_at_all(sess):
    nothing, ids = fed(np.zeros([0, 2], np.float32)), fed(np.zeros([0], np.int32))
    assert sess.run(tf.segment_sum(nothing, ids)).shape == (0, 2)
    assert sess.run(tf.unsorted_segment_sum(nothing, ids, 2)).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.float16])
@pytest.mark.parametrize("ids", [[], [2, 0, 2, -1, 2, 0], [[1, 1], [0, 3]], [0, 5, 1]])
@pytest.mark.parametrize("width", [[], [1], [3, 17]])
def test_unsorted_sums_with_compiled_loops(both_ways, dtype, ids, width):
    places = torch.tensor(ids, dtype=torch.int32)
    data = (torch.randn(*places.shape, *width) * 9).to(dtype)
    both_ways(lambda: registry.function_of("UnsortedSegmentSum")(data, places, torch.tensor(4)))
