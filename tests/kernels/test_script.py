"""Python functions in a graph: what they are given, what they may return, and what their exceptions become."""

import numpy as np
import pytest

import everflow as tf


def test_arguments_are_the_functions_own(sess):
    kept = []

    def change(x):
        kept.append(x)
        x += 1
        return x

    given = np.float32([1, 2])
    fed = tf.placeholder(tf.float32)
    assert sess.run(tf.py_func(change, [fed], tf.float32), {fed: given}).tolist() == [2, 3]
    assert given.tolist() == [1, 2] and kept[0].tolist() == [2, 3]


def test_scalars_strings_and_nothing(sess):
    seen = []
    note = tf.py_func(lambda *a: seen.extend(a), [1.5, "a", True, [["x"]]], [])
    sess.run(note)
    assert seen[:3] == [np.float32(1.5), b"a", True] and seen[3].tolist() == [[b"x"]]


@pytest.mark.parametrize(
    ("returned", "dtype", "wanted"),
    [
        ("text", tf.string, b"text"),
        (b"zero\x00", tf.string, b"zero\x00"),
        (["a", b"b\x00"], tf.string, [b"a", b"b\x00"]),
        (np.arange(3)[::-1], tf.int64, [2, 1, 0]),
        (True, tf.bool, True),
        (np.float16(0.5), tf.float16, 0.5),
    ],
)
def test_what_is_returned(sess, returned, dtype, wanted):
    found = sess.run(
        tf.py_func(lambda: returned if not isinstance(returned, list) else np.array(returned, object), [], dtype)
    )
    assert (found.tolist() if hasattr(found, "tolist") else found) == wanted


@pytest.mark.parametrize(
    ("returned", "types", "error"),
    [
        (1.0, tf.int64, tf.errors.InvalidArgumentError),
        ((1.0, 2.0), tf.float64, tf.errors.InvalidArgumentError),
        (None, tf.float64, tf.errors.InvalidArgumentError),
        (object(), tf.float64, tf.errors.InternalError),
    ],
)
def test_what_may_not_be_returned(sess, returned, types, error):
    found = tf.py_func(lambda: returned, [], types)
    with pytest.raises(error):
        sess.run(found)


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ValueError("bad"), tf.errors.InvalidArgumentError),
        (TypeError("bad"), tf.errors.InvalidArgumentError),
        (StopIteration("bad"), tf.errors.OutOfRangeError),
        (MemoryError("bad"), tf.errors.ResourceExhaustedError),
        (NotImplementedError("bad"), tf.errors.UnimplementedError),
        (KeyError("bad"), tf.errors.UnknownError),
    ],
)
def test_what_exceptions_become(sess, raised, error):
    def fail():
        raise raised

    found = tf.py_func(fail, [], tf.float32)
    with pytest.raises(error, match="bad"):
        sess.run(found)


def test_a_result_is_the_graphs_own(sess):
    held = np.float32([1, 2])
    found = tf.py_func(lambda: held, [], tf.float32)
    first = sess.run(found)
    held[0] = 9
    assert first.tolist() == [1, 2]
