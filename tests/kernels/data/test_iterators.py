"""Iterators: before they are initialised, after the end, by handles, and their state as bytes."""

import pytest

import everflow as tf
from everflow.framework.errors import DataLossError, FailedPreconditionError
from everflow.kernels.data.datasets import End, from_iterable
from everflow.kernels.data.iterators import IteratorResource
from everflow.runtime.state import SessionState, Step

D = tf.data.Dataset


@pytest.fixture
def step():
    return Step(SessionState())


def numbers(count):
    return from_iterable(lambda: [(i,) for i in range(count)], count)


def test_not_initialised(sess):
    following = D.range(3).make_initializable_iterator().get_next()
    with pytest.raises(tf.errors.FailedPreconditionError, match="iterator has not been initialized"):
        sess.run(following)


def test_the_end_stays_until_it_begins_anew(sess):
    iterator = D.range(2).make_initializable_iterator()
    following = iterator.get_next()
    for _ in range(2):
        sess.run(iterator.initializer)
        assert [int(sess.run(following)) for _ in range(2)] == [0, 1]
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                sess.run(following)


def test_one_iterator_for_two_datasets(sess):
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    following = iterator.get_next()
    first, second = iterator.make_initializer(D.range(3)), iterator.make_initializer(D.range(10, 12))
    sess.run(first)
    assert sess.run(following) == 0
    sess.run(second)
    assert sess.run(following) == 10


def test_two_sessions_have_iterators_of_their_own():
    with tf.Graph().as_default():
        following = D.range(3).make_one_shot_iterator().get_next()
        with tf.Session() as one, tf.Session() as two:
            assert [int(s.run(following)) for s in (one, one, two)] == [0, 1, 0]


def test_one_name_is_one_iterator(sess):
    first, second = (D.range(5).make_initializable_iterator(shared_name="numbers") for _ in range(2))
    sess.run(first.initializer)
    assert [int(sess.run(i.get_next())) for i in (first, second, first)] == [0, 1, 2]


def test_handles_that_name_nothing(sess):
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(following, {handle: "nothing"})


def test_a_state_goes_to_where_another_was(step):
    first, second = IteratorResource("a"), IteratorResource("b")
    first.begin(numbers(5), step)
    assert [first.get_next(step) for _ in range(3)] == [[0], [1], [2]]
    second.begin(numbers(5), step)
    second.restore(first.state(SessionState(), step), step)
    assert [second.get_next(step), second.get_next(step)] == [[3], [4]]
    with pytest.raises(End):
        second.get_next(step)


def test_states_that_can_not_be(step):
    empty = IteratorResource("a")
    with pytest.raises(FailedPreconditionError, match="Save.. failed"):
        empty.state(SessionState(), step)
    with pytest.raises(FailedPreconditionError, match="Restore.. failed"):
        empty.restore(b"{}", step)
    empty.begin(numbers(2), step)
    for damaged in (b"", b"{}", b'{"asked": 1}', b'{"asked": "x", "seeds": []}', b"\xff"):
        with pytest.raises(DataLossError):
            empty.restore(damaged, step)


def test_optional_values(sess):
    full, none = (
        tf.data.experimental.Optional.from_value((1, "a")),
        tf.data.experimental.Optional.none_from_structure(tf.TensorSpec([], tf.int32)),
    )
    assert sess.run([full.has_value(), none.has_value()]) == [True, False]
    assert sess.run(full.get_value()) == (1, b"a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        sess.run(none.get_value())


def test_the_device_of_an_iterator():
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.Dataset.range(3).make_initializable_iterator()
        device = tf.raw_ops.IteratorGetDevice(resource=iterator._iterator_resource)
        assert session.run(device).decode().endswith("CPU:0")


@pytest.mark.parametrize(("dtype", "shape"), [(tf.float32, []), (tf.int32, [2])])
def test_an_optional_has_one_type_and_shape(dtype, shape):
    optional = tf.raw_ops.OptionalFromValue(components=[tf.constant(3)])
    value = tf.raw_ops.OptionalGetValue(optional=optional, output_types=[dtype], output_shapes=[shape])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(value)


def test_an_iterator_asked_for_other_components_keeps_its_element():
    handle = tf.placeholder(tf.string, [])
    two = tf.data.Iterator.from_string_handle(handle, (tf.int64, tf.int64), ([], [])).get_next()
    one = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
    with tf.Session() as sess:
        feeds = {handle: sess.run(iterator.string_handle())}
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(two, feeds)
        assert sess.run(one, feeds) == 0
