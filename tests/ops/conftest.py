"""What tests of ops share."""

import pytest

import everflow as tf


@pytest.fixture
def sess():
    """A session on a graph of the test's own, which is the default one."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session
