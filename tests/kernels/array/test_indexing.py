"""Elements picked and placed by index: repeated places, unsigned types and strings, and places that aren't there."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.array.indexing import assign_slice
from tests.kernels.feeding import fed

X = np.arange(12).reshape(3, 4)
TYPES = "float16 float32 int8 int64 uint16 uint32 uint64 bool complex64 string".split()


def values(dtype):
    if dtype == "string":
        return np.array([[b"%d" % v for v in row] for row in X], object)
    return (X % 2 if dtype == "bool" else X).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_picked(sess, dtype):
    x = values(dtype)
    t = fed(x, dtype)
    got = sess.run(
        [
            tf.gather(t, fed([2, 0])),
            tf.gather(t, fed(1), axis=1),
            tf.gather(t, fed([[3], [0], [1]]), axis=1, batch_dims=1),
            tf.gather_nd(t, fed([[2, 3], [0, 0]])),
            tf.gather_nd(t, fed([1])),
            t[::-2, None, 1:3],
            t[-1],
            tf.slice(t, fed([1, 2]), fed([-1, 1])),
            tf.where_v2(fed([True, False, True, False]), t, t[:1]),
        ]
    )
    wanted = [
        x[[2, 0]], x[:, 1], x[[[0], [1], [2]], [[3], [0], [1]]], x[[2, 0], [3, 0]], x[1], x[::-2, None, 1:3], x[-1],
        x[1:, 2:3], np.where([True, False, True, False], x, x[:1]),
    ]  # fmt: skip
    for found, want in zip(got, wanted):
        assert found.shape == want.shape
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "float64"])
def test_of_repeated_places_the_last_update_stays_and_sums_add_up(sess, dtype):
    base, places = fed(np.zeros(4, dtype)), fed([[1], [3], [1]])
    updates = fed(np.array([5, 6, 7], dtype))
    set_, added, less, made = sess.run(
        [
            tf.tensor_scatter_update(base, places, updates),
            tf.tensor_scatter_add(base, places, updates),
            tf.tensor_scatter_sub(base, places, updates),
            tf.scatter_nd(places, updates, fed([4])),
        ]
    )
    assert set_.tolist() == [0, 7, 0, 6]
    assert added.tolist() == made.tolist() == [0, 12, 0, 6]
    assert less.tolist() == [0, -12, 0, -6]


def test_many_repeated_places(sess):
    random = np.random.RandomState(0)
    places, updates = random.randint(0, 50, (5000, 1)), random.randn(5000)
    wanted = np.zeros(50)
    for place, update in zip(places[:, 0], updates):
        wanted[place] = update
    np.testing.assert_array_equal(
        sess.run(tf.tensor_scatter_update(fed(np.zeros(50)), fed(places), fed(updates))), wanted
    )
    far = random.permutation(10**6)[:5000, None]
    spread = sess.run(tf.tensor_scatter_update(fed(np.zeros(10**6)), fed(far), fed(updates)))
    np.testing.assert_array_equal(spread[far[:, 0]], updates)


def test_rows_are_placed_whole(sess):
    rows = fed([[1.0, 2.0], [3.0, 4.0]])
    assert sess.run(tf.scatter_nd(fed([[2], [0]]), rows, fed([3, 2]))).tolist() == [[3, 4], [0, 0], [1, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.scatter_nd(fed(np.zeros([2, 0], np.int32)), rows, fed([2])))


def test_old_row_updates(sess):
    x = tf.constant([[1, 1], [2, 2]])
    results = [op(x=x, i=[-1], v=[[5, 6]]) for op in (tf.raw_ops.InplaceUpdate, tf.raw_ops.InplaceAdd)]
    assert [sess.run(r).tolist() for r in results] == [[[1, 1], [5, 6]], [[1, 1], [7, 8]]]


@pytest.mark.parametrize("dtype", ["float32", "uint16", "string"])
def test_parts_are_put_together_again(sess, dtype):
    x = values(dtype)
    parts = tf.dynamic_partition(fed(x, dtype), fed([1, 0, 1]), 3)
    places = tf.dynamic_partition(tf.range(3), fed([1, 0, 1]), 3)
    split, whole = sess.run([parts, tf.dynamic_stitch(places, parts)])
    assert [len(p) for p in split] == [1, 2, 0]
    np.testing.assert_array_equal(whole, x)


def test_later_parts_win_and_gaps_are_zero(sess):
    stitched = tf.dynamic_stitch([fed([0, 3]), fed(0)], [fed([1.0, 2.0]), fed(9.0)])
    found = sess.run(stitched)
    assert found.shape == (4,) and found[[0, 3]].tolist() == [9.0, 2.0]


def test_places_of_what_is_true(sess):
    assert sess.run(tf.where(fed([[0.0, 2.0], [np.nan, 0.0]]))).tolist() == [[0, 1], [1, 0]]
    assert sess.run(tf.where(fed([], tf.bool))).shape == (0, 1)


@pytest.mark.parametrize("shape", [[], [1] * 9])
def test_masks_have_one_to_eight_dimensions(sess, shape):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Unhandled input dimensions: {len(shape)}"):
        sess.run(tf.where(fed(np.ones(shape, bool))))


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@pytest.mark.parametrize(("op", "side"), [(tf.raw_ops.LowerBound, "left"), (tf.raw_ops.UpperBound, "right")])
def test_places_in_sorted_rows(sess, dtype, op, side):
    rows, wanted = np.array([[1, 3, 3, 9], [0, 0, 5, 5]], dtype), np.array([[3, 10], [0, 4]], dtype)
    found = sess.run(op(sorted_inputs=fed(rows), values=fed(wanted), out_type=tf.int64))
    np.testing.assert_array_equal(found, [np.searchsorted(r, w, side) for r, w in zip(rows, wanted)])


def test_flat_places_as_coordinates(sess):
    assert (
        sess.run(tf.unravel_index(fed([22, 0]), fed([3, 4, 2]))).tolist()
        == np.array(np.unravel_index([22, 0], (3, 4, 2))).tolist()
    )


@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (1, 2), (-1, 0), (0, -1), (-1, -1)])
def test_bands_of_matrices(sess, lower, upper):
    i, j = np.mgrid[:3, :4]
    kept = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    for dtype in ("float32", "int32", "uint16"):
        np.testing.assert_array_equal(
            sess.run(tf.matrix_band_part(fed(X.astype(dtype)), lower, upper)), np.where(kept, X, 0)
        )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.slice(fed(X), fed([0, 5]), fed([1, 1])), r"Expected begin\[1\] in \[0, 4\], but got 5"),
        (lambda: tf.slice(fed(X), fed([0, 3]), fed([1, 2])), r"Expected size\[1\] in \[0, 1\], but got 2"),
        (lambda: tf.slice(fed(X), fed([0]), fed([1])), "of size 2"),
        (lambda: fed(X)[5], "out of bounds"),
        (lambda: tf.strided_slice(fed(X), fed([0]), fed([1]), fed([0])), "strides.0. must be non-zero"),
        (lambda: tf.gather(fed(X), fed([[0, 3]])), r"indices\[0,1\] = 3 is not in \[0, 3\)"),
        (lambda: tf.gather(fed(X), fed(-1), axis=1), r"indices = -1 is not in \[0, 4\)"),
        (lambda: tf.gather(fed(X), fed([0]), axis=fed(2)), "Expected axis in the range"),
        (lambda: tf.gather_nd(fed(X), fed([[0, 0], [3, 0]])), r"indices\[1\] = \[3, 0\] does not index into param"),
        (lambda: tf.gather_nd(fed(X), fed([[0, 0, 0]])), "must be <= params rank"),
        (lambda: tf.scatter_nd(fed([[4]]), fed([1]), fed([4])), r"\[4\] does not index into shape \[4\]"),
        (lambda: tf.scatter_nd(fed([[0]]), fed([1, 2]), fed([4])), None),
        (lambda: tf.tensor_scatter_add(fed(X), fed([[0]]), fed(X[0, :1])), None),
        (lambda: tf.where(fed([True]), fed(X), fed(X)), None),
        (lambda: tf.where(fed([True, False]), fed([1]), fed([1, 2])), None),
        (lambda: tf.where_v2(fed([True, False]), fed(X), fed(X[0, 0])), None),
        (lambda: tf.one_hot(fed([0]), fed(-1)), "depth must be non-negative"),
        (lambda: tf.dynamic_partition(fed(X), fed([0, 1, 2]), 2), r"partitions\[2\] = 2 is not in \[0, 2\)"),
        (lambda: tf.dynamic_partition(fed(X), fed([0, 1]), 2), "data.shape must start with partitions.shape"),
        (lambda: tf.dynamic_stitch([fed([0])], [fed([[1], [2]])]), "does not start with"),
        (lambda: tf.dynamic_stitch([fed([-1, 0])], [fed([1, 2])]), "is out of range"),
        (lambda: tf.unravel_index(fed([1]), fed([2, 0])), "cannot contain a dim of zero"),
        (
            lambda: tf.matrix_band_part(fed(X), fed(4), 0),
            "num_lower must be negative or less or equal to number of rows",
        ),
    ],
)
def test_places_that_are_not_there(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


def test_a_scalar_of_text_is_replaced_by_its_text_and_not_by_an_array():
    none = torch.zeros(0, dtype=torch.int32)
    target = np.array(b"old", object)
    assign_slice(target, none, none, none, np.array(b"new", object), (0, 0, 0, 0, 0))
    assert type(target[()]) is bytes and target[()] == b"new"


@pytest.mark.parametrize("v", [[1, 2], [[1, 2], [3, 4]], [[1]], [[[1, 2]]]])
def test_rows_to_put_in_place_must_be_rows_of_it(sess, v):
    for op in (tf.raw_ops.InplaceUpdate, tf.raw_ops.InplaceAdd, tf.raw_ops.InplaceSub):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(op(x=fed([[1, 2], [3, 4]]), i=[0], v=v))
