"""Every test of the runtime gets a default graph of its own."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def same_threads():
    """Whatever a test does to the number of threads, the next one has what it had before."""
    import torch

    from everflow.runtime import threads

    before = torch.get_num_threads()
    yield
    threads.use(before)
