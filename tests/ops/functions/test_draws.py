"""Random numbers drawn apart from a function: the same numbers, where they don't depend on what goes in."""

import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.functions.draws import apart

pytestmark = pytest.mark.usefixtures("own_graph")


def parts(function):
    made = StructuredFunction(function, "test", tf.TensorSpec([], tf.float32))
    return apart(tf.get_default_graph()._functions[made.attr.name])


def test_one_draws_and_the_other_takes():
    draws, rest = parts(lambda x: x + tf.random_uniform([], seed=1) * tf.random_normal([], seed=2))
    assert not draws.inputs and [t.op.type for t in draws.outputs] == ["RandomUniform", "RandomStandardNormal"]
    with tf.Session(graph=rest.graph) as sess:
        assert sess.run(rest.outputs, dict(zip(rest.inputs, [1.0, 2.0, 3.0]))) == [7.0]


def test_what_has_no_random_numbers_takes_none():
    draws, rest = parts(lambda x: -x)
    assert not draws.outputs and len(rest.inputs) == 1


def test_numbers_that_depend_on_the_inputs_are_drawn_in_the_midst():
    assert parts(lambda x: tf.random_uniform(tf.cast([x], tf.int32), seed=1)) is None


def test_what_else_has_to_run_still_does():
    def checked(x):
        drawn = tf.random_uniform([], seed=1)
        with tf.control_dependencies([tf.Assert(x > 0, [x])]):
            return x + drawn

    _, rest = parts(checked)
    assert [op.type for op in rest.controls] == ["If"]
