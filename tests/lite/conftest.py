"""Each test draws in an empty graph."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def empty_graph():
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()
