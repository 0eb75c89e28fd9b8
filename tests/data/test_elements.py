"""What elements may be, and what is said of those that don't fit."""

import attr
import numpy as np
import pytest

import everflow as tf
from tests.data.draining import drain

pytestmark = pytest.mark.usefixtures("own_graph")


@attr.s
class Point:
    x = attr.ib()
    y = attr.ib()


def test_an_object_of_an_attrs_class_is_an_element():
    dataset = tf.data.Dataset.range(3).map(lambda n: Point(n, -n))
    assert dataset.element_spec == Point(tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64))
    assert drain(dataset.map(lambda point: point.x - point.y)) == [0, 2, 4]


SHAPES = {
    "too small": ([1], ValueError, r"The padded shape \(1,\) is not compatible with .* \(3,\)"),
    "a matrix": ([[1, 1], [1, 1]], ValueError, r"\[\[1, 1\], \[1, 1\]\] must be a 1-D tensor: .* shape was \(2, 2\)"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_padded_shape_that_does_not_fit(case):
    shape, error, message = SHAPES[case]
    with pytest.raises(error, match=message):
        tf.data.Dataset.from_tensors([1, 2, 3]).padded_batch(2, shape)


def test_a_padding_value_is_a_scalar_first_of_all():
    with pytest.raises(ValueError, match="scalar"):
        tf.data.Dataset.range(3).padded_batch(2, [], padding_values=[1, 2])


YIELDED = {
    "another shape": (lambda: [np.zeros(4)], tf.float32, [3], r"element of shape \(3,\) was expected"),
    "another structure": (lambda: [5], (tf.int64, tf.int64), None, r"expected structure was \(tf.int64, tf.int64\)"),
}


@pytest.mark.parametrize("case", YIELDED)
def test_a_generator_that_yields_something_else(case):
    generator, types, shapes, message = YIELDED[case]
    dataset = tf.data.Dataset.from_generator(generator, types, shapes)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(dataset.make_one_shot_iterator().get_next())


NUMBERS = {
    "none of infinitely many": (lambda: tf.data.Dataset.range(2).repeat().skip(-1), -1),
    "none of some": (lambda: tf.data.Dataset.range(2).filter(lambda _: True).skip(-1), -2),
    "none of two": (lambda: tf.data.Dataset.range(2).skip(-1), 0),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_how_many_are_left(case):
    make, wanted = NUMBERS[case]
    with tf.Session() as session:
        assert session.run(tf.data.experimental.cardinality(make())) == wanted


def test_a_row_that_does_not_fit_fails_alone():
    rows = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]])
    element = rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [1])).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.DataLossError):
                session.run(element)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_a_huge_buffer_takes_a_few_passes_ahead():
    taken = []
    dataset = tf.data.Dataset.range(3).map(lambda n: tf.py_func(lambda v: (taken.append(v), v)[1], [n], tf.int64))
    dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(10**9, 10**6, seed=3))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert sorted(session.run(element) for _ in range(3)) == [0, 1, 2]
    assert len(taken) == 12


def test_time_to_sleep_is_not_negative():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=">= 0, not -1"):
        variant = tf.data.Dataset.range(1)._variant_tensor
        slept = tf.raw_ops.ExperimentalSleepDataset(
            input_dataset=variant, sleep_microseconds=np.int64(-1), output_types=[tf.int64], output_shapes=[[]]
        )
        session.run(tf.raw_ops.DatasetCardinality(input_dataset=slept))
