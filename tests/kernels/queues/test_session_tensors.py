"""Tensors kept by a session: by their names, until they are deleted."""

import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize("value", [np.float32([1, 2]), np.array([b"a", b"b"], object), np.int64([[7]])])
def test_values_are_kept_as_they_are(sess, value):
    handle = sess.run(tf.get_session_handle(tf.constant(value)))
    kept, tensor = tf.get_session_tensor(handle.handle, tf.as_dtype(np.asarray(value).dtype))
    np.testing.assert_array_equal(sess.run(tensor, {kept: handle.handle}), value)
    sess.run(tensor, {kept: handle.handle})[...] = np.zeros((), value.dtype)
    np.testing.assert_array_equal(sess.run(tensor, {kept: handle.handle}), value)


def test_every_handle_has_a_name_of_its_own(sess):
    handle = tf.get_session_handle(tf.constant(1.0), name="kept")
    first, second = sess.run(handle), sess.run(handle)
    assert first.handle != second.handle
    assert first.handle.split(";")[0] == "kept" and "CPU:0" in first.handle


def test_what_was_deleted_is_gone(sess):
    handle = sess.run(tf.get_session_handle(tf.constant(1.0))).handle
    kept, tensor = tf.get_session_tensor(handle, tf.float32)
    holder, delete = tf.delete_session_tensor(handle)
    sess.run(delete, {holder: handle})
    for gone in (tensor, delete):
        with pytest.raises(tf.errors.InvalidArgumentError, match="in the session store"):
            sess.run(gone, {kept: handle, holder: handle})
