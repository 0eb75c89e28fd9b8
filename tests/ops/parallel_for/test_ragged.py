"""Lists of different lengths for many elements at once: values behind each other, and lengths."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.parallel_for.exact import for_many

pytestmark = pytest.mark.usefixtures("own_graph")

TEXT = np.array([b"a bb", b"", b"ccc dd e"], object)


def drawn(function, spec, lists=()):
    made = StructuredFunction(function, "test", spec)
    graph = tf.get_default_graph()
    return for_many(graph._functions[made.attr.name], len(made.captured_inputs), lists)


def of_text(function):
    """What a function of a string gives for three of them: values, and their numbers."""
    many = drawn(function, tf.TensorSpec([], tf.string))
    assert many.lists == (True,)
    with tf.Session(graph=many.body.graph) as sess:
        values, lengths = sess.run(many.body.outputs, {many.body.inputs[0]: TEXT})
    return values.tolist(), lengths.tolist()


def test_text_is_split():
    assert of_text(lambda x: tf.string_split([x]).values) == ([b"a", b"bb", b"ccc", b"dd", b"e"], [2, 0, 3])
    assert of_text(lambda x: tf.string_split([x], "d").values) == (
        [b"a bb", b"ccc ", b" e"],
        [1, 0, 2],
    )


def test_what_is_computed_for_each_value_keeps_lists():
    lengths = of_text(lambda x: tf.strings.length(tf.string_split([x]).values) * 2 + 1)
    assert lengths == ([3, 5, 7, 5, 3], [2, 0, 3])

    def chosen(x):
        pieces = tf.strings.length(tf.string_split([x]).values)
        return tf.where_v2(pieces > 1, pieces, -pieces)

    assert of_text(chosen) == ([-1, 2, 3, 2, -1], [2, 0, 3])


def test_sizes_of_lists_are_one_number_each():
    many = drawn(lambda x: tf.size(tf.string_split([x]).values), tf.TensorSpec([], tf.string))
    assert many.lists == (False,)
    with tf.Session(graph=many.body.graph) as sess:
        assert sess.run(many.body.outputs, {many.body.inputs[0]: TEXT})[0].tolist() == [2, 0, 3]


def test_lists_that_come_in():
    def bucket(x):
        inside = tf.logical_and(tf.less_equal([-(2**31), 2, 3], tf.size(x)), tf.less(tf.size(x), [2, 3, 2**31 - 1]))
        return tf.reduce_min(tf.where(inside))

    many = drawn(bucket, tf.TensorSpec([None], tf.int64), (True,))
    values, lengths = many.body.inputs
    with tf.Session(graph=many.body.graph) as sess:
        feeds = {values: np.arange(7), lengths: [2, 0, 5]}
        assert sess.run(many.body.outputs, feeds)[0].tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.string_split([x]).indices,
        lambda x: tf.string_split([x, x]).values,
        lambda x: tf.where(tf.equal(tf.stack([x, x]), "a")),
        lambda x: tf.string_split([x]).values[:1],
        lambda x: tf.string_join([tf.string_split([x]).values, x]),
        lambda x: tf.string_join([tf.string_split([x]).values, tf.string_split([x], "d").values]),
    ],
)
def test_what_has_no_form_for_many(function):
    assert drawn(function, tf.TensorSpec([], tf.string)) is None
