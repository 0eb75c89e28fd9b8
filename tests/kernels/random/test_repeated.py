"""Numbers for several calls at once: those that the calls would draw one after the other."""

import pytest
import torch

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.functions.draws import apart, repeated

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random_uniform([], seed=1),
        lambda: tf.random_uniform([3], -2.0, 5.0, seed=1),
        lambda: tf.random_uniform([2, 3], seed=1),
        lambda: tf.random_uniform([2], seed=1, dtype=tf.float64),
        lambda: tf.random_uniform([3], 5, 17, tf.int32, seed=1),
        lambda: tf.random_uniform([], -7, 1 << 40, tf.int64, seed=1),
        lambda: tf.random_uniform([0], seed=1),
        lambda: tf.random_normal([2], seed=1),
        lambda: tf.truncated_normal([5], seed=1),
    ],
)
def test_the_same_as_call_by_call(draw):
    made = StructuredFunction(lambda x: tf.cast(draw(), tf.float64), "test", tf.TensorSpec([], tf.float32))
    graph = tf.get_default_graph()
    with tf.Session() as sess:
        functions = sess._executor.functions()
        one_by_one, _ = functions.apart(made.attr.name)
        many = functions.drawing(made.attr.name)
        wanted = torch.stack([one_by_one()[0] for _ in range(9)])
        found = torch.cat([many(torch.tensor(n, dtype=torch.int32))[0] for n in (4, 0, 5)])
    assert found.dtype == wanted.dtype and torch.equal(found, wanted)
    assert made.attr.name in graph._functions


def test_what_has_no_such_form():
    made = StructuredFunction(lambda x: tf.multinomial([[1.0, 2.0]], 3, seed=1), "test", tf.TensorSpec([], tf.float32))
    draws, _ = apart(tf.get_default_graph()._functions[made.attr.name])
    assert repeated(draws) is None
