"""TensorArrays when executing eagerly: lists of tensors that tapes see through."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


def array(size=3, **options):
    return tf.TensorArray(tf.float32, size=size, **options)


def test_written_and_read_in_place():
    held = array()
    assert held.write(1, 5.0) is held and held.write(0, 4.0).identity() is held
    assert held.read(1).numpy() == 5.0 and held.size().numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        held.read(1)  # it was cleared when it was read


def test_kept_where_asked():
    held = array(clear_after_read=False).write(0, 4.0)
    assert [held.read(0).numpy() for _ in range(2)] == [4.0, 4.0]


def test_stacked_gathered_joined_and_split():
    held = array(clear_after_read=False).unstack([1.0, 2.0, 3.0])
    assert held.stack().numpy().tolist() == [1, 2, 3] and held.gather([2, 0]).numpy().tolist() == [3, 1]
    parts = array(2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    assert parts.concat().numpy().tolist() == [1, 2, 3]
    scattered = array(4, element_shape=[]).scatter([3, 1], [1.0, 2.0])
    assert scattered.stack().numpy().tolist() == [0, 2, 0, 1]
    assert array(0, element_shape=[2]).stack().shape.as_list() == [0]


def test_it_grows_where_it_may():
    held = array(0, dynamic_size=True).write(2, [1.0, 2.0])
    assert held.size().numpy() == 3 and held.stack().numpy().tolist() == [[0, 0], [0, 0], [1, 2]]
    assert array(0, dynamic_size=True).unstack([1.0, 2.0]).size().numpy() == 2


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda a: a.write(3, 1.0), tf.errors.OutOfRangeError),
        (lambda a: a.write(-1, 1.0), tf.errors.OutOfRangeError),
        (lambda a: a.read(3), tf.errors.OutOfRangeError),
        (lambda a: a.read(-1), tf.errors.OutOfRangeError),
        (lambda a: a.read(0), ValueError),
        (lambda a: a.write(0, tf.constant(1)), tf.errors.InvalidArgumentError),
        (lambda a: a.write(0, [1.0]).write(1, 1.0), ValueError),
        (lambda a: a.unstack([1.0] * 4), ValueError),
        (lambda a: a.split([1.0, 2.0], [1, 2]), tf.errors.InvalidArgumentError),
        (lambda a: a.split([1.0] * 4, [1] * 4), tf.errors.InvalidArgumentError),
        (lambda a: a.grad("source"), NotImplementedError),
    ],
)
def test_what_does_not_fit(change, error):
    with pytest.raises(error):
        change(array())


def test_tapes_see_through():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        held = array(2).write(0, x * x).write(1, 3.0 * x)
        y = tf.reduce_sum(held.stack())
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [5, 7])


def test_only_reading_clears():
    held = array().unstack([1.0, 2.0, 3.0])
    for _ in range(2):
        np.testing.assert_array_equal(held.stack(), [1, 2, 3])
        np.testing.assert_array_equal(held.gather([2, 0]), [3, 1])
    assert held.read(1).numpy() == 2.0
    np.testing.assert_array_equal(held.stack(), [1, 0, 3])


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.TensorArray(tf.float32), ValueError),
        (lambda: tf.TensorArray(tf.float32, [1]), TypeError),
        (lambda: tf.TensorArray(tf.float32, 1, handle=tf.constant(1)), ValueError),
        (lambda: array().split(1.0, [1, 1, 1]), tf.errors.InvalidArgumentError),
        (lambda: array().split([1.0, 2.0, 3.0], 3), tf.errors.InvalidArgumentError),
    ],
)
def test_what_is_no_array(build, error):
    with pytest.raises(error):
        build()


def test_nothing_has_no_shape():
    assert tf.map_fn(lambda x: x, tf.zeros([0, 3])).shape == [0]
