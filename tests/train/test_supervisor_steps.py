"""Which global step a Supervisor takes, and what it tells the graph of it."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def test_a_step_found_by_its_name_joins_the_collection(tmp_path):
    tf.Variable(0, name="global_step", trainable=False)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [supervisor.global_step]
    assert supervisor.global_step.name == "global_step:0"


def test_a_step_that_was_given_does_not(tmp_path):
    step = tf.Variable(0, name="global_step", trainable=False)
    tf.train.Supervisor(logdir=str(tmp_path), global_step=step)
    assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == []
