"""Rows of different lengths: empty ones, rows of rows, and splits that can't be."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


@pytest.mark.parametrize(
    ("limits", "splits", "values"),
    [
        (([0, 5, 8], [3, 5, 6], [1, 1, -1]), [0, 3, 3, 5], [0, 1, 2, 8, 7]),
        ((0, [2, 0, 3], 2), [0, 1, 1, 3], [0, 0, 2]),
        (([3], [0], [1]), [0, 0], []),
        (([0.0], [1.0], [0.4]), [0, 3], [0.0, 0.4, 0.8]),
    ],
)
def test_ranges(sess, limits, splits, values):
    found = sess.run(tf.raw_ops.RaggedRange(starts=fed(limits[0]), limits=fed(limits[1]), deltas=fed(limits[2])))
    assert found.rt_nested_splits.tolist() == splits
    np.testing.assert_allclose(found.rt_dense_values, values, rtol=1e-6)


@pytest.mark.parametrize(("starts", "limits", "deltas"), [([0], [1], [0]), ([0, 1], [1, 2, 3], [1])])
def test_ranges_that_can_not_be(sess, starts, limits, deltas):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.RaggedRange(starts=fed(starts), limits=fed(limits), deltas=fed(deltas)))


ROWS = [[[1, 2], []], [], [[3], [4, 5, 6]]]


def test_rows_by_index(sess):
    ragged = tf.ragged.constant(ROWS)
    assert sess.run(tf.gather(ragged, [2, 1, 2])).to_list() == [ROWS[2], ROWS[1], ROWS[2]]
    assert sess.run(tf.gather(ragged, [[0], [1]])).to_list() == [[ROWS[0]], [ROWS[1]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 3 is not in \[0, 3\)"):
        sess.run(tf.gather(ragged, tf.placeholder_with_default([0, 3], [None])))


@pytest.mark.parametrize("rows", [ROWS, [["a"], [], ["b", "c"]], [[]]])
def test_sparse_and_back(sess, rows):
    ragged = tf.ragged.constant(rows, ragged_rank=1) if rows != ROWS else tf.ragged.constant(rows, ragged_rank=2)
    sparse = sess.run(ragged.to_sparse())
    flat = sess.run(ragged.flat_values)
    np.testing.assert_array_equal(sparse.values, flat.reshape(-1))
    assert len(sparse.indices) == flat.size


@pytest.mark.parametrize("splits", [[1, 2], [0, 2, 1], [0, 1]])
def test_splits_that_can_not_be(sess, splits):
    found = tf.raw_ops.RaggedTensorToSparse(
        rt_nested_splits=[fed(np.array(splits, np.int64))], rt_dense_values=fed([1, 2])
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(list(found))


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        (None, [[1, 2, 0], [0, 0, 0], [3, 4, 5]]),
        ([2, 2], [[1, 2], [0, 0]]),
        ([4, -1], [[1, 2, 0], [0, 0, 0], [3, 4, 5], [0, 0, 0]]),
        ([-1, 4], [[1, 2, 0, 0], [0, 0, 0, 0], [3, 4, 5, 0]]),
    ],
)
def test_dense_forms_of_other_sizes(sess, shape, wanted):
    found = tf.raw_ops.RaggedTensorToTensor(
        shape=tf.constant(-1 if shape is None else shape),
        values=fed([1, 2, 3, 4, 5]),
        default_value=0,
        row_partition_tensors=[fed(np.int64([0, 2, 2, 5]))],
        row_partition_types=["ROW_SPLITS"],
    )
    assert sess.run(found).tolist() == wanted


def test_words_are_filled_up(sess):
    assert sess.run(tf.ragged.constant([["a"], [], ["b", "c"]]).to_tensor("-")).tolist() == [
        [b"a", b"-"],
        [b"-", b"-"],
        [b"b", b"c"],
    ]


@pytest.mark.parametrize("batched", [False, True])
def test_variants_and_back(sess, batched):
    splits = [np.int64([0, 2, 2, 4]), np.int64([0, 2, 2, 3, 6])]
    encoded = tf.raw_ops.RaggedTensorToVariant(
        rt_nested_splits=[fed(s) for s in splits], rt_dense_values=fed([1, 2, 3, 4, 5, 6]), batched_input=batched
    )
    found = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=encoded,
        input_ragged_rank=1 if batched else 2,
        output_ragged_rank=2,
        Tvalues=tf.int32,
        Tsplits=tf.int64,
    )
    back, values = sess.run(list(found))
    assert [b.tolist() for b in back] == [s.tolist() for s in splits] and values.tolist() == [1, 2, 3, 4, 5, 6]
