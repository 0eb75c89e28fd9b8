"""Each test has a graph of its own, and the same random numbers in every session."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def _same_numbers_in_every_session(own_graph):
    tf.set_random_seed(1)
