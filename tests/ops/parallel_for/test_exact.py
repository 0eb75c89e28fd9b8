"""Functions of one element drawn for many: the same bits, or not at all."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.parallel_for.exact import for_many

pytestmark = pytest.mark.usefixtures("own_graph")

X = np.array([[1.5, -2.0], [3.0, 4.25], [-0.5, 7.0]], np.float32)
TEXT = np.array([b"1,a", b"2,b", b"30,c"], object)


def drawn(function, spec):
    made = StructuredFunction(function, "test", spec)
    graph = tf.get_default_graph()
    many = for_many(graph._functions[made.attr.name], len(made.captured_inputs))
    return many and many.body


def agrees(function, rows):
    """Whether a function for many gives what it gives for each."""
    spec = tf.TensorSpec(list(rows.shape[1:]), tf.as_dtype(rows.dtype))
    body = drawn(function, spec)
    with tf.Session(graph=body.graph) as sess:
        together = sess.run(body.outputs, {body.inputs[0]: rows})
    place = tf.placeholder(spec.dtype, spec.shape)
    one = tf.contrib.framework.nest.flatten(function(place))
    with tf.Session() as sess:
        alone = [sess.run(one, {place: row}) for row in rows]
    for i, column in enumerate(together):
        np.testing.assert_array_equal(column, np.stack([row[i] for row in alone]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x - 1.0) / 255.0,
        lambda x: (tf.cast(x, tf.int32), tf.reshape(x, [2, 1]), x[1:]),
        lambda x: tf.stack([x, tf.constant([1.0, 2.0])]),
        lambda x: tf.reduce_max(x),
        lambda x: tf.reduce_sum(tf.cast(x, tf.int64)),
        lambda x: (tf.constant(3), x),
        lambda x: tf.one_hot(tf.cast(x, tf.int32), 5),
    ],
)
def test_numbers(function):
    agrees(function, X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.decode_csv(x, [[0], [""]]),
        lambda x: tf.strings.length(x),
        lambda x: tf.string_join([x, "!"]),
        lambda x: tf.strings.regex_replace(x, "[a-z]", "z"),
        lambda x: tf.substr(x, 0, 1),
        lambda x: tf.string_to_number(tf.substr(x, 0, 1)),
        lambda x: tf.string_to_hash_bucket_fast(x, 100),
    ],
)
def test_text(function):
    agrees(function, TEXT)


def test_examples():
    def example(i):
        features = {
            "a": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i / 2])),
            "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%d" % i])),
        }
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    def parsed(s):
        found = tf.parse_single_example(
            s, {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.FixedLenFeature([], tf.string)}
        )
        return found["a"], found["b"]

    agrees(parsed, np.array([example(i) for i in range(4)], object))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.reduce_sum(x),  # rounds in an order of its own
        lambda x: x + tf.random_uniform([2], seed=1),
        lambda x: tf.py_func(lambda v: v, [x], tf.float32),
        lambda x: tf.cond(x[0] > 0, lambda: x, lambda: -x),
        lambda x: tf.boolean_mask(x, x > 0),
        lambda x: tf.real(tf.complex(x, x) * 2.0),
    ],
)
def test_what_has_no_form_with_the_same_bits(function):
    assert drawn(function, tf.TensorSpec([2], tf.float32)) is None


def test_lists_of_any_length_have_no_one_shape():
    def parsed(s):
        return tf.parse_single_example(s, {"a": tf.VarLenFeature(tf.int64)})["a"].values

    assert drawn(parsed, tf.TensorSpec([], tf.string)) is None


def test_elements_of_unknown_rank_are_left_alone():
    assert drawn(lambda x: x * 2, tf.TensorSpec(None, tf.float32)) is None


def test_tables_are_looked_up_for_all():
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], default_value=-1)
    body = drawn(lambda x: table.lookup(x), tf.TensorSpec([], tf.string))
    assert body is not None and [op.type for op in body.controls] == ["LookupTableFindV2"]
