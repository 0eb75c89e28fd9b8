"""Values of ragged ops that are known while a graph is drawn."""

import everflow as tf
from everflow.framework.static_values import known_value


def test_rows_gathered_from_a_ragged_constant_are_known():
    with tf.Graph().as_default():
        rows = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])
        gathered = tf.gather(rows, [2, 0])
        outer, inner = (known_value(splits).tolist() for splits in gathered.nested_row_splits)
        assert outer == [0, 1, 3] and inner == [0, 3, 4, 6]
        assert known_value(gathered.flat_values).tolist() == [4, 5, 6, 1, 2, 3]
        assert known_value(tf.gather(rows, [7]).flat_values) is None


def test_rows_of_ranges_are_known_and_long_ones_are_left_to_the_run():
    with tf.Graph().as_default():
        rows = tf.ragged.range([2, 0, 1])
        assert known_value(rows.row_splits).tolist() == [0, 2, 2, 3]
        assert known_value(rows.flat_values).tolist() == [0, 1, 0]
        assert known_value(tf.ragged.range([1 << 20]).flat_values) is None
