"""Names of TensorFlow's modules for stateful and textual ops, by which unit tests and libraries call them."""

import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.ops import (
    control_flow_util,
    critical_section_ops,
    custom_gradient,
    data_flow_ops,
    logging_ops,
    script_ops,
    string_ops,
)


def test_print_and_python_functions(capfd):
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(logging_ops.print_v2(tf.range(3), "end"))
        doubled = script_ops._internal_py_func(lambda x: x * 2, [tf.constant(2.0)], [tf.float32], stateful=True)
        assert sess.run(doubled) == [4.0] and script_ops._py_funcs.size() >= 1
        assert sess.run(string_ops.substr_deprecated("hello", 1, 2)) == b"el"
    assert capfd.readouterr().err == "[0 1 2] end\n"


def test_the_switch_of_control_flow_can_be_set_as_a_name():
    try:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = True
        assert tf.control_flow_v2_enabled()
        with tf.Graph().as_default():
            tf.cond(tf.constant(True), lambda: (tf.add_to_collection("seen", 7), 1.0)[1], lambda: 2.0)
            assert tf.get_collection("seen") == [7]
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
    assert not tf.control_flow_v2_enabled()


def test_critical_sections_in_branches_of_one_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        section = critical_section_ops.CriticalSection(shared_name="one")
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
        results = [
            tf.cond(tf.constant(True), lambda: section.execute(lambda: tf.identity(v.assign_add(1.0))), lambda: 0.0)
            for _ in range(3)
        ]
        sess.run(v.initializer)
        assert sorted(sess.run(results)) == [1.0, 2.0, 3.0]


def test_a_barrier_of_scalars_takes_no_dimensions_for_one_shape():
    with tf.Graph().as_default():
        assert data_flow_ops.Barrier(tf.float32, shapes=()).take_many(2).values[0].shape == [2]
        with pytest.raises(ValueError, match=r"received shape '\(0,\)' at index 1"):
            data_flow_ops.Barrier((tf.float32, tf.float32), shapes=((1,), (0,)))


def test_variables_by_name():
    with tf.Graph().as_default(), tf.variable_scope("a"):
        v = tf.get_variable("v", [])
        assert custom_gradient.get_variable_by_name("a/v") is v
