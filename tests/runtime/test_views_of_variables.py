"""What was read of a variable before it is written stays as it was, wherever TensorFlow makes a copy."""

import numpy as np
import pytest

import everflow as tf

V = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
COPIES = {
    "columns": (lambda v: v[:, 1:], V[:, 1:]),
    "row": (lambda v: v[0], V[0]),
    "transpose": (tf.transpose, V.T),
    "split": (lambda v: tf.split(v, 2, 1)[0], V[:, :1]),
    "unstack": (lambda v: tf.unstack(v)[1], V[1]),
    "gather": (lambda v: tf.gather(v, 1), V[1]),
    "diagonal": (tf.matrix_diag_part, V.diagonal()),
    "broadcast": (lambda v: tf.broadcast_to(v, [2, 2, 2]), np.stack([V, V])),
    "slice": (lambda v: tf.slice(v, [0, 1], [2, 1]), V[:, 1:]),
    "chosen": (lambda v: tf.where(tf.constant(True), v, v), V),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", COPIES)
def test_a_write_does_not_reach_what_was_read(name, use_resource):
    read, wanted = COPIES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=V, use_resource=use_resource)
        before = read(v)
        with tf.control_dependencies([before]):
            written = v.assign_add(V)
        with tf.control_dependencies([written]):
            later = before * 1.0
        session.run(v.initializer)
        for value in session.run([before, later]):
            np.testing.assert_array_equal(value, wanted)


def test_words_are_copied_too():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=tf.constant([["a", "b"], ["c", "d"]]), dtype=tf.string)
        before = v[:, 1]
        with tf.control_dependencies([before]):
            written = v.assign([["x"] * 2] * 2)
        session.run(v.initializer)
        assert session.run([before, written])[0].tolist() == [b"b", b"d"]


def test_a_result_written_over_is_not_part_of_its_source():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.ones((2, 5000), np.float32))
        product = x * 2.0
        row = tf.gather(product, 0)
        more = row + 1.0
        values = session.run([product, more])
        assert (values[0] == 2.0).all() and (values[1] == 3.0).all()


def test_adding_zero_copies_a_ref_variable():
    """Hooks read the global step so: they see the step that a run began with."""
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.Variable(0)
        before = step.initialized_value() + 0
        sess.run(step.initializer)
        assert sess.run([before, tf.assign_add(step, 1), step])[::2] == [0, 1]


VIEWS_TO_WRITE = {
    "transposed": (tf.transpose, [[1.0, 3.0], [2.0, 4.0]]),
    "a row for all": (lambda v: tf.broadcast_to(v[0], [2, 2]), [[1.0, 2.0], [1.0, 2.0]]),
    "from the end": (lambda v: v[::-1], [[3.0, 4.0], [1.0, 2.0]]),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("view", VIEWS_TO_WRITE)
def test_a_variable_is_changed_by_a_view_of_itself(view, use_resource):
    make, added = VIEWS_TO_WRITE[view]
    start = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    v = tf.Variable(start, use_resource=use_resource)
    step = tf.assign_add(v, make(v)).op
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(step)
        np.testing.assert_array_equal(sess.run(v), start + added)
