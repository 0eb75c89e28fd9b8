"""Collective ops of several devices in one graph; TensorFlow's values."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.exchange import EXCHANGE, Collective, Exchange
from everflow.kernels.registry import function_of
from everflow.ops.array import collectives
from everflow.runtime.plan.program import Node
from everflow.runtime.state import SessionState, Step

CONFIG = tf.ConfigProto(device_count={"CPU": 2})


def _on_both(build, values):
    made = []
    for i, value in enumerate(values):
        with tf.device(f"/cpu:{i}"):
            made.append(build(tf.constant(value)))
    return made


def _run(fetches, executor=""):
    config = tf.ConfigProto()
    config.CopyFrom(CONFIG)
    config.experimental.executor_type = executor
    with tf.Session(config=config) as sess:
        return [value.tolist() for value in sess.run(fetches)]


@pytest.mark.parametrize("executor", ["", "CHECKED", "REFERENCE"])
@pytest.mark.parametrize(
    ("merge", "final", "values", "wanted"),
    [
        ("Add", "Id", ([1.0, 2.0], [4.0, 5.0]), [5.0, 7.0]),
        ("Add", "Div", ([1.0, 2.0], [4.0, 5.0]), [2.5, 3.5]),
        ("Mul", "Id", ([1.0, 2.0], [4.0, 5.0]), [4.0, 10.0]),
        ("Add", "Div", ([1, 2, 3], [2, 2, -6]), [1, 2, -1]),
        ("Add", "Id", (1.0, 2.0), 3.0),
        ("Add", "Id", (np.zeros([0], np.float32), np.zeros([0], np.float32)), []),
    ],
)
def test_reduce(merge, final, values, wanted, executor):
    with tf.Graph().as_default():
        made = _on_both(lambda x: collectives.all_reduce(x, 2, 1, 1, merge, final), values)
        assert _run(made, executor) == [wanted, wanted]


def test_gather_and_broadcast():
    with tf.Graph().as_default():
        gathered = _on_both(lambda x: collectives.all_gather(x, 2, 1, 1), ([[1.0, 2.0]], [[3.0, 4.0]]))
        assert gathered[0].shape == [2, 2]
        with tf.device("/cpu:0"):
            sent = collectives.broadcast_send(tf.constant([1, 2]), [2], tf.int32, 2, 1, 2)
        with tf.device("/cpu:1"):
            received = collectives.broadcast_recv([2], tf.int32, 2, 1, 2)
        assert _run([*gathered, sent, received]) == [[[1.0, 2.0], [3.0, 4.0]]] * 2 + [[1, 2]] * 2


def test_what_can_not_be():
    with tf.Graph().as_default():
        made = _on_both(lambda x: collectives.all_reduce(x, 2, 1, 1, "Min", "Id"), ([1.0], [2.0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="merge_op must be"):
            _run(made)
        made = _on_both(lambda x: collectives.all_reduce(x, 2, 1, 1, "Add", "Id"), ([1.0], [2.0, 3.0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            _run(made)
        with pytest.raises(tf.errors.DeadlineExceededError), tf.Session(config=CONFIG) as sess:
            sess.run(made[0], options=tf.RunOptions(timeout_in_ms=200))


def test_one_op_at_a_time_waits_for_the_others():
    """Where no plan takes the op apart, as in eager execution, its kernel waits."""
    step, exchange = Step(SessionState(), timeout_in_ms=20_000), Exchange()
    step.container[EXCHANGE] = exchange
    exchange.start(Collective("reduce", 1, 2, 1), "other", torch.tensor([2.0]))
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        op = collectives.all_reduce(tf.constant([1.0]), 2, 1, 1, "Add", "Id").op
    node = Node(0, op, op.name, op.type)
    assert function_of("CollectiveReduce")(torch.tensor([1.0]), node=node, step=step).tolist() == [3.0]
