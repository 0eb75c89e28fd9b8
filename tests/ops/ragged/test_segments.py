"""Row splits and segment ids, from one to the other."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.ragged import segments
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


# expression → (value, static shape)
TABLE = {
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5)": ([0, 2, 2, 3, 3, 3], "(6,)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("splits", "ids"), [([0, 2, 2, 5], [0, 0, 2, 2, 2]), ([0], []), ([0, 0, 0], []), ([0, 1], [0])]
)
def test_there_and_back(splits, ids, dtype):
    found = tf.ragged.row_splits_to_segment_ids(tf.constant(splits, dtype))
    assert found.dtype == dtype and run(found) == ids
    assert run(tf.ragged.segment_ids_to_row_splits(tf.constant(ids, dtype), len(splits) - 1)) == splits


def test_types_that_are_asked_for():
    assert tf.ragged.row_splits_to_segment_ids([0, 2], out_type=tf.int32).dtype == tf.int32
    assert tf.ragged.segment_ids_to_row_splits([0, 0]).dtype == tf.int64
    assert tf.ragged.segment_ids_to_row_splits(tf.constant([0, 0])).dtype == tf.int32


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.ragged.row_splits_to_segment_ids([0.0, 2.0]), (TypeError, ValueError)),
        (lambda: tf.ragged.row_splits_to_segment_ids([[0, 2]]), ValueError),
        (lambda: tf.ragged.row_splits_to_segment_ids(np.zeros([0], np.int64)), ValueError),
        (lambda: tf.ragged.segment_ids_to_row_splits([0.5]), TypeError),
        (lambda: tf.ragged.segment_ids_to_row_splits([[0]]), ValueError),
        (lambda: tf.ragged.segment_ids_to_row_splits([0], [1]), ValueError),
    ],
)
def test_what_is_neither(build, error):
    with pytest.raises(error):
        build()


def test_rows_are_repeated_whole():
    rows, splits = [10, 11, 12], tf.constant([0, 2, 3])
    assert run(segments.repeat_ranges(rows, splits, 2)) == [10, 11, 10, 11, 12, 12]
    assert run(segments.repeat_ranges(rows, splits, [1, 2])) == [10, 11, 12, 12]
    assert run(segments.repeat_ranges(rows, splits, [0, 1])) == [12]
