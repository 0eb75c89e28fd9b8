"""What tests of branches and loops share."""

import pytest

import everflow as tf


@pytest.fixture
def functional():
    """A graph of the test's own, in which branches and loops are drawn as functional ops."""
    tf.enable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        yield graph
    tf.disable_control_flow_v2()
