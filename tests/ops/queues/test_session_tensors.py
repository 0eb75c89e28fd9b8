"""Tensors that stay in the session."""

import pytest

import everflow as tf


def test_handles():
    with tf.Graph().as_default(), tf.Session() as sess:
        c = tf.constant(10.0) * tf.constant(5.0)
        handle = sess.run(tf.get_session_handle(c))
        assert handle.handle == "GetSessionHandle;0;/job:localhost/replica:0/task:0/device:CPU:0" == str(handle)
        holder, kept = tf.get_session_tensor(handle.handle, tf.float32)
        assert sess.run(kept * 2.0, {holder: handle.handle}) == 100.0
        p = tf.placeholder(tf.float32)
        assert sess.run(p * 3.0, {p: handle}) == 150.0
        assert handle.eval() == 50.0
        handle.delete()
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            sess.run(kept, {holder: handle.handle})
        both = sess.run([tf.get_session_handle(tf.constant([1, 2])), c])
        assert both[0].handle.startswith("GetSessionHandle_1;1;") and both[1] == 50.0
        holder, delete = tf.delete_session_tensor(both[0].get_raw_handle())
        assert sess.run(delete, {holder: both[0].handle}) is None


def test_the_kept_value_is_a_copy():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0, 2.0])
        sess.run(v.initializer)
        handle = sess.run(tf.get_session_handle(v))
        sess.run(v.assign([5.0, 6.0]))
        assert list(handle.eval()) == [1.0, 2.0]
