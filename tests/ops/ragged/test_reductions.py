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
