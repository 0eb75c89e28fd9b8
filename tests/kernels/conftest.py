"""What most tests of kernels begin with."""

import pytest

import everflow as tf


@pytest.fixture
def sess():
    """A session on a default graph of the test's own."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session
