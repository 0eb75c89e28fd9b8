"""The functions by which plans call regions."""

import gc
import os

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.runtime.plan.native import machine_code
from everflow.runtime.plan.program import NATIVE


@pytest.fixture
def region():
    """A region of two inputs, as (function, what it should give)."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        x, y = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [4])
        z = tf.maximum(x * 2.0, y) + 1.0
        sess.run(z, {x: np.ones([3, 4]), y: np.ones([4])})
        emitted = sess._executor.prepare([z], [x, y]).plan.emitted
        node = next(n for n in emitted._line_nodes if n is not None and n.type == NATIVE)
        yield node.value, lambda a, b: torch.maximum(a * 2.0, b) + 1.0


@pytest.mark.parametrize(
    "x, y",
    [
        (torch.randn(3, 4), torch.randn(4)),
        (torch.randn(4, 3).t(), torch.randn(4)),
        (torch.randn(3, 1).expand(3, 4), torch.randn(8)[::2]),
        (torch.randn(5, 4), torch.randn(4)),
        (torch.randn(0, 4), torch.randn(4)),
    ],
    ids=["as planned", "transposed", "broadcast", "another shape", "empty"],
)
def test_what_a_region_is_given(region, x, y):
    function, expected = region
    kept = x.clone(), y.clone()
    torch.testing.assert_close(function(x, y), expected(x, y))
    torch.testing.assert_close((x, y), kept)


def test_results_are_memory_of_their_own(region):
    function, _ = region
    x, y = torch.ones(3, 4), torch.ones(4)
    first = function(x, y)
    second = function(x, y)
    first.zero_()
    assert (second == 3).all()


def test_scratch_memory_grows_and_is_each_threads_own():
    scratch = machine_code._Scratch()
    small = scratch.address(100)
    assert scratch.address(50) == small
    scratch.address(100_000)
    assert scratch.space.numel() == 100_000


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def make_and_drop(plans):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    for _ in range(plans):
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            x = tf.placeholder(tf.float32, [64])
            sess.run(tf.tanh(x * 2.0) + 1.0, {x: np.ones([64])})
    gc.collect()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="looks at /proc")
@pytest.mark.parametrize("plans", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_memory_of_plans_that_are_gone_is_given_back(plans):
    make_and_drop(100)
    before = resident()
    make_and_drop(plans)
    assert resident() - before < (8 << 20) + 2000 * plans
