"""The one variable that counts training steps."""

import pytest

import everflow as tf
from everflow.ops.variables import global_step as steps

pytestmark = pytest.mark.usefixtures("own_graph")


def test_made_once():
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert step.name == "global_step:0" and step.dtype.base_dtype == tf.int64 and step.shape.as_list() == []
    assert step not in tf.trainable_variables() and tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    assert tf.train.get_global_step() is step is tf.train.get_or_create_global_step()
    with pytest.raises(ValueError):
        tf.train.create_global_step()


def test_of_another_graph_and_outside_of_scopes():
    other = tf.Graph()
    with tf.name_scope("inner"):
        step = tf.train.get_or_create_global_step(other)
    assert step.graph is other and step.name == "global_step:0" and tf.train.get_global_step() is None


def test_found_by_its_name_alone():
    step = tf.Variable(3, name="global_step", trainable=False)
    assert tf.train.get_global_step().name == step.name
    with tf.Session() as sess:
        sess.run(step.initializer)
        assert tf.train.global_step(sess, step) == 3


@pytest.mark.parametrize("wrong", [lambda: 3, lambda: tf.Variable(1.0), lambda: tf.Variable([1, 2])])
def test_what_is_no_step(wrong):
    with pytest.raises(TypeError):
        tf.train.assert_global_step(wrong())


def test_several_are_none():
    for name in "ab":
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.Variable(1, name=name))
    assert tf.train.get_global_step() is None


def test_read_before_it_is_counted_up():
    assert steps._get_or_create_global_step_read() is None
    with pytest.raises(ValueError):
        steps._increment_global_step(1)
    tf.train.create_global_step()
    read, count = steps._get_or_create_global_step_read(), steps._increment_global_step(2)
    assert steps._get_or_create_global_step_read() is read
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [sess.run([read, count])[0] for _ in range(3)] == [0, 2, 4]
