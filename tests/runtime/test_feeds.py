"""What may be fed, how it is converted, and what is refused."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.feeds import Feeder


def fed(dtype, value, shape=None):
    x = tf.placeholder(dtype, shape)
    with tf.Session() as sess:
        return sess.run(raw.Identity(input=x), {x: value})


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1, 2), [[1], [2]], np.array([1.5, 2.5]), np.array([True, False]), 3, np.float64(2.5), [], None,
     np.arange(24.0).reshape(4, 6)[::2, ::-3], np.asfortranarray(np.ones((2, 3))), np.array([1.0, 2.0], ">f4"), [np.ones(2), np.zeros(2)]],
)  # fmt: skip
def test_what_becomes_floats(value):
    np.testing.assert_array_equal(fed(tf.float32, value), np.asarray(value, np.float32))


@pytest.mark.parametrize("size", [3, 100_000])
def test_read_only_arrays(size):
    array = np.ones(size, np.float32)
    array.flags.writeable = False
    x = tf.placeholder(tf.float32, [size])
    v = tf.Variable(tf.zeros([size]))
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(x + 1.0, {x: array}), array + 1.0)
        sess.run(v.assign(x), {x: array})
        sess.run(v.assign_add(x), {x: array})
        np.testing.assert_array_equal(sess.run(v), np.full(size, 2.0))
    np.testing.assert_array_equal(array, np.ones(size))


def _kernel_value(dtype, value):
    return Feeder(tf.placeholder(dtype)).feed(value)


def test_large_arrays_are_fed_without_a_copy(tmp_path):
    """Also those that are files, which nobody may write."""
    array = np.ones([300, 300], np.float32)
    np.save(tmp_path / "array.npy", array)
    read_only = array.copy()
    read_only.flags.writeable = False
    for value in (array, read_only, array[10:], np.load(tmp_path / "array.npy", mmap_mode="r")):
        fed = _kernel_value(tf.float32, value)
        assert fed.data_ptr() == value.__array_interface__["data"][0]
        del value
        assert (fed.numpy() == 1.0).all()


def test_integers():
    assert fed(tf.int32, 1.0) == 1
    np.testing.assert_array_equal(fed(tf.int32, [1.7, -1.7]), [1, -1])
    np.testing.assert_array_equal(fed(tf.uint8, [300]), [44])
    with pytest.raises(TypeError, match="which can.t hold it"):
        fed(tf.int32, 2**40)


def test_text():
    assert fed(tf.string, "é") == "é".encode()
    assert list(fed(tf.string, ["a", b"b\x00"])) == [b"a", b"b\x00"]
    assert list(fed(tf.string, np.array(["x", "yz"]))) == [b"x", b"yz"]
    with pytest.raises(tf.errors.InternalError, match="Unsupported object type int"):
        fed(tf.string, [1])


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("abc", ValueError),
        ([[1.0, 2.0], [3.0]], ValueError),
        ([1.0], ValueError),
        ({"a": 1}, TypeError),
        (lambda: 1.0, TypeError),
    ],
)
def test_refused_values(value, error):
    with pytest.raises(error):
        fed(tf.float32, value, [None, 2])


def test_message_of_a_wrong_shape():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.Session() as sess, pytest.raises(ValueError) as caught:
        sess.run(x, {x: [1.0, 2.0]})
    assert str(caught.value) == "Cannot feed value of shape (2,) for Tensor 'x:0', which has shape '(?, 2)'"


def test_keys():
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.placeholder(tf.float32, [], name="y")
    total = raw.AddV2(x=x, y=y)
    with tf.Session() as sess:
        assert sess.run(total, {"x:0": 1.0, y: 2.0}) == 3.0
        assert sess.run(total, {(x, y): (1.0, 5.0)}) == 6.0
        assert sess.run(total, {total: 4.0}) == 4.0
        with pytest.raises(TypeError, match="must be a dictionary"):
            sess.run(total, [x, y])  # also after the same fetch was run with the same feeds
        for key in (3, "zz:0", "x", x.op):
            with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
                sess.run(total, {key: 1.0})
        with pytest.raises(TypeError, match="must be a dictionary"):
            sess.run(total, [(x, 1.0)])
        with pytest.raises(ValueError, match="a key of 2 parts has a value of 1"):
            sess.run(total, {(x, y): (1.0,)})
        with pytest.raises(TypeError, match="a tensor has no value to feed"):
            sess.run(total, {x: y, y: 1.0})
        tf.get_default_graph().prevent_feeding(middle := raw.Neg(x=x))
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(total, {middle: 1.0, y: 1.0})


def test_feeding_an_intermediate_cuts_what_is_above():
    x = tf.placeholder(tf.float32, [])
    middle = raw.Neg(x=x)
    with tf.Session() as sess:
        assert sess.run(raw.Exp(x=middle), {middle: 0.0}) == 1.0


def test_composites():
    s = tf.SparseTensor(
        tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [2])
    )
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.float32([3.0]), np.array([1, 2]))
    with tf.Session() as sess:
        got = sess.run(s, {s: value})
        assert isinstance(got, tf.SparseTensorValue) and list(got.values) == [3.0]
        assert sess.run(raw.Neg(x=s.values), {s: ([[0, 1]], [4.0], [1, 2])})[0] == -4.0


def test_waiting_for_a_fed_placeholder_is_waiting_for_its_feed():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        with tf.control_dependencies([x]):
            y = tf.constant(2.0)
        assert sess.run(y, {x: 1.0}) == 2.0
