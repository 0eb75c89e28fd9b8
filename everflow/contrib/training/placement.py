"""The parameter server of a variable, by load or at random: `ps_strategy` of `tf.train.replica_device_setter`."""

from __future__ import annotations

import numpy as np

from everflow.framework.shapes import TensorShape


class RandomStrategy:
    """A server at random, each with the same chance."""

    def __init__(self, num_ps_tasks, seed=0):
        self._num_tasks = num_ps_tasks
        self._random = np.random.RandomState(seed)

    def __call__(self, op):
        return self._random.choice(self._num_tasks)


class GreedyLoadBalancingStrategy:
    """The server with the smallest load so far; `load_fn` gives the load of an op.

    >>> strategy = GreedyLoadBalancingStrategy(3, byte_size_load_fn)
    >>> with tf.device(tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)): ...
    """

    def __init__(self, num_tasks, load_fn):
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op):
        task = np.argmin(self._ps_loads)
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """The bytes of a variable, or of any op with one output of a known shape."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    shape = TensorShape(op.get_attr("shape")) if op.type == "VarHandleOp" else output.get_shape()
    shape.assert_is_fully_defined()
    dtype = op.get_attr("dtype") if op.type == "VarHandleOp" else output.dtype
    return dtype.base_dtype.size * shape.num_elements()
