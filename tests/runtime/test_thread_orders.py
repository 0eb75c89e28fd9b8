"""Which plans may choose their number of threads, and which number the others keep."""

from types import SimpleNamespace

import pytest
import torch

import everflow as tf
from everflow.framework.shapes import TensorShape
from everflow.kernels.facts import SHARE
from everflow.runtime import thread_orders, threads
from everflow.runtime.plan.prune import prune


def _nodes(build, *shapes):
    with tf.Graph().as_default():
        feeds = [tf.placeholder(tf.float32, shape) for shape in shapes]
        return prune([build(*feeds)], feeds).nodes


def test_small_tensors_leave_the_choice():
    assert thread_orders.may_choose_threads(_nodes(tf.sigmoid, [100, 100]))
    assert not thread_orders.may_choose_threads(_nodes(tf.sigmoid, [200, 200]))
    assert not thread_orders.may_choose_threads(_nodes(tf.sigmoid, [None, 200]))
    assert not thread_orders.may_choose_threads(_nodes(tf.matmul, [2, 2], [2, 2]))


def test_complex_numbers_leave_the_choice_while_they_are_few():
    for size, free in ((SHARE - 1, True), (SHARE, False)):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.complex64, [size])
            assert thread_orders.may_choose_threads(prune([x * x], [x]).nodes) is free


def test_what_has_no_kernel_may_have_anything_in_it():
    nodes = _nodes(tf.exp, [10])
    assert thread_orders.may_choose_threads(nodes)
    nodes[-1].type = "SomebodysFunction"
    assert not thread_orders.may_choose_threads(nodes)


def test_products_decide_the_number_that_stays():
    assert thread_orders.steady_count(_nodes(tf.matmul, [64, 4], [4, 1]), 8) == 1
    assert thread_orders.steady_count(_nodes(tf.matmul, [512, 784], [784, 500]), 8) == 8
    assert thread_orders.steady_count(_nodes(tf.matmul, [None, 4], [4, 1]), 8) == 1


def test_a_plan_made_for_fed_shapes_keeps_its_number():
    general = _nodes(tf.matmul, [None, 4], [4, 1])
    special = _nodes(tf.matmul, [None, 4], [4, 1])
    for node in special:
        node.output_shapes = [TensorShape([1 << 14, 1 << 14]) for _ in node.output_shapes]
    assert thread_orders.steady_count(general, 8) == thread_orders.steady_count(special, 8)


@pytest.mark.usefixtures("same_threads")
class TestWhatPlansCall:
    """Which of the three ways a plan goes."""

    def _counts(self, nodes, runs=12):
        seen, chosen = [], [None]
        chosen[0] = threads.tried(
            lambda step: seen.append(torch.get_num_threads()), 2, lambda f: chosen.__setitem__(0, f), nodes
        )
        for _ in range(runs):
            chosen[0](None)
        return set(seen)

    def test_a_free_one_tries(self):
        assert self._counts(_nodes(tf.exp, [10])) == {1, 2}

    def test_a_bound_one_keeps_its_number(self):
        assert self._counts(_nodes(tf.matmul, [4, 4], [4, 4])) == {1}
        assert self._counts(_nodes(tf.matmul, [512, 784], [784, 500])) == {2}

    def test_one_that_was_told_tries(self, monkeypatch):
        monkeypatch.setenv("EVERFLOW_QUICKEST_THREADS", "1")
        assert self._counts(_nodes(tf.matmul, [4, 4], [4, 4])) == {1, 2}


def test_machine_code_leaves_a_plan_its_number(own_graph):
    """The gradient of the first weights is a product with what a region computed, whose node stands for others' ops."""
    x = tf.placeholder(tf.float32, [128, 784])
    weights, bias = tf.Variable(tf.zeros([784, 256])), tf.Variable(tf.zeros([256]))
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), bias))
    loss = tf.reduce_sum(tf.square(tf.matmul(hidden, tf.Variable(tf.zeros([256, 1])))))
    gradients = tf.gradients(loss, [weights, bias])
    counts = []
    for level in (-1, 1):
        config = tf.ConfigProto(intra_op_parallelism_threads=2)
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Session(config=config) as sess:
            plan = sess._executor.prepare(gradients, [x]).plan
            counts.append(plan.function.threads)
            assert (plan._native is not None) == (level == 1)
    assert counts == [2, 2]


def test_regions_that_helpers_share_need_no_trial():
    def node(type, value=None):
        return SimpleNamespace(type=type, value=value)

    shared, alone = (SimpleNamespace(takes_helpers=told) for told in (True, False))
    assert thread_orders.is_left_to_regions([node("_Native", shared), node("Const"), node("VarHandleOp")])
    assert not thread_orders.is_left_to_regions([node("_Native", alone)])
    assert not thread_orders.is_left_to_regions([node("_Native", shared), node("MatMul")])
