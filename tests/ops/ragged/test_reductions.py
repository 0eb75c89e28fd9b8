"""Ragged tensors reduced along rows and across them; strings joined."""

import pytest

import everflow as tf
from tests.ops.ragged.rows import run

pytestmark = pytest.mark.usefixtures("own_graph")

_WORDS = [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    "axis, joined",
    [
        (None, b"abc"),  # all of them: TensorFlow leaves the separator out
        (0, [b"a-c", b"b"]),
        (1, [b"a-b", b"c"]),
        (-1, [b"a-b", b"c"]),
        ([0, 1], b"a-b-c"),
    ],
)
def test_strings_of_rows_are_joined(axis, joined):
    assert run(tf.strings.reduce_join(tf.ragged.constant(_WORDS), axis, separator="-")) == joined


def test_strings_beside_each_other_are_joined():
    words = tf.ragged.constant(_WORDS)
    assert run(tf.strings.join([words, words], separator="|")) == [[b"a|a", b"b|b"], [b"c|c"]]


def test_an_axis_must_be_known_and_inside():
    rows = tf.ragged.constant([[1], [2, 3]])
    with pytest.raises(ValueError):
        tf.reduce_sum(rows, axis=tf.placeholder(tf.int32, []))
    with pytest.raises(ValueError):
        tf.reduce_sum(rows, axis=2)
    assert run(tf.reduce_sum(rows, axis=tf.constant(1))) == [1, 5]


def test_rows_of_segments_are_laid_over_each_other():
    ragged, inner = tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0, 5.0]]), tf.ragged.constant([[0, 1, 2], [], [1, 1]])
    with tf.Session() as sess:
        for kind, wanted in (("sum", [5, 7, 3]), ("prod", [4, 10, 3]), ("max", [4, 5, 3]), ("mean", [2.5, 3.5, 3])):
            found = sess.run(getattr(tf.math, f"unsorted_segment_{kind}")(ragged, [0, 2, 0], 3))
            assert found.to_list() == [wanted, [], []]
        assert sess.run(tf.math.unsorted_segment_sum(ragged, inner, 3)).tolist() == [1, 11, 3]
        other = tf.ragged.constant([[0, 1], [], [1, 1]])
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.math.unsorted_segment_sum(ragged, other, 3))
    with pytest.raises(ValueError):
        tf.math.unsorted_segment_sum([1.0], tf.ragged.constant([[0]]), 1)


def test_sums_of_several_ragged_tensors():
    ragged = tf.ragged.constant([[1, 2], [3]])
    with tf.Session() as sess:
        assert sess.run(tf.add_n([ragged, ragged, ragged])).to_list() == [[3, 6], [9]]


def test_rows_joined_by_constants_are_as_long_as_known():
    ragged = tf.ragged.constant([[1, 2], [3], [4]])
    assert tf.math.unsorted_segment_sum(ragged, [0, 2, 0], 3).flat_values.shape.as_list() == [3]
    assert tf.reduce_max(ragged, axis=0).shape.as_list() == [2]
