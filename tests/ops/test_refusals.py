"""What is refused as TensorFlow refuses it, when it runs or when it is drawn."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def fed(value):
    return tf.placeholder_with_default(value, None)


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.reshape([1, 2], fed(2)),
        lambda: tf.slice([1, 2], fed(0), fed(1)),
        lambda: tf.cumsum([1.0, 2.0], axis=[0]),
        lambda: tf.nn.depthwise_conv2d_native(
            np.ones((1, 4, 4, 1), "f"), np.ones((2, 2, 1, 1), "f"), [1, 1, 2, 1], "SAME"
        ),
    ],
    ids=["reshape", "slice", "cumsum", "depthwise"],
)
def test_wrong_arguments_of_runs(build):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(build())


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.concat([1, 2], 0), ValueError),
        (lambda: tf.expand_dims([1], [0, 1]), ValueError),
        (lambda: tf.roll([1, 2], [1], [0, 0]), ValueError),
        (lambda: tf.contrib.nn.nth_element([1.0, 2.0], -1), ValueError),
        (lambda: tf.py_func(np.sin, [1.5], tf.float64), TypeError),
        (lambda: tf.constant([np.array([1, 2]), np.array([3])]), TypeError),
        (lambda: tf.constant([2, [1]]), TypeError),
    ],
    ids=["concat", "expand_dims", "roll", "nth_element", "py_func", "arrays", "lists"],
)
def test_wrong_arguments_of_graphs(build, error):
    with pytest.raises(error):
        build()


def test_tensors_of_another_graph_are_not_imported():
    with tf.Graph().as_default() as other:
        tf.identity(tf.placeholder(tf.float32, name="p"))
    with tf.Graph().as_default():
        constant = tf.constant(1.0)
    with pytest.raises(ValueError, match="another graph"):
        tf.import_graph_def(other.as_graph_def(), input_map={"p:0": constant})


def test_a_handle_of_an_iterator_with_other_elements():
    texts = tf.data.Dataset.from_tensors("a").make_one_shot_iterator().string_handle()
    numbers = tf.data.Dataset.from_tensors([1, 2]).make_one_shot_iterator().string_handle()
    for handle, kind, shape in ((texts, tf.int64, []), (numbers, tf.int32, [3])):
        element = tf.data.Iterator.from_string_handle(handle, kind, shape).get_next()
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element)


def test_keys_of_windows_are_int64():
    with pytest.raises(ValueError):
        tf.data.Dataset.range(4).apply(
            tf.data.experimental.group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, d: d.batch(2), 2)
        )


def test_rows_are_changed_in_the_tensors_own_type():
    from everflow.ops.array import inplace

    with tf.Session() as session:
        assert session.run(inplace.inplace_add(np.zeros((2, 2), "f"), [0], [[1, 2]])).tolist() == [[1, 2], [0, 0]]


def test_vectors_are_keys_of_dense_tables():
    table = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, default_value=-1, empty_key=[-1, 0], deleted_key=[-2, 0], initial_num_buckets=4
    )
    with tf.Session() as session:
        session.run(table.insert(tf.constant([[0, 1], [2, 3]], tf.int64), tf.constant([5, 6], tf.int64)))
        keys, values = session.run(table.export())
        assert (keys.shape, values.shape) == ((4, 2), (4, 1))
        assert sorted(keys.tolist()) == [[-1, 0], [-1, 0], [0, 1], [2, 3]]
        assert session.run(table.lookup(tf.constant([[0, 1], [9, 9]], tf.int64))).tolist() == [5, -1]


def test_selu_at_zero_and_factors_of_nothing():
    x = tf.constant([0.0, 1.0])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.gradients(tf.nn.selu(x), x)[0]), [1.050701, 1.050701], rtol=1e-6)
        factors, order = session.run(tf.linalg.lu(np.zeros((2, 0, 0), "f")))
    assert (factors.shape, order.shape) == ((2, 0, 0), (2, 0))
