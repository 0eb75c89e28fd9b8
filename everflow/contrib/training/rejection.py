"""Batches of the examples that a random draw accepts."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.checks.values import assert_less_equal
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.random import distributions as random
from everflow.train.input import batch, maybe_batch


def rejection_sample(tensors, accept_prob_fn, batch_size, queue_threads=1, enqueue_many=False, prebatch_capacity=16, prebatch_threads=1,
                     runtime_checks=False, name=None):  # fmt: skip
    """A batch of examples, each accepted with the probability that `accept_prob_fn(tensors)` gives.

    >>> batch = rejection_sample([x, label], lambda t: tf.where(t[1] > 0, 1.0, 0.1), 32)   # fewer negatives
    """
    with name_scope(name, "rejection_sample", tensors):
        tensor_list = [convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            # One example at a time from here on.
            settings = {"num_threads": prebatch_threads, "capacity": prebatch_capacity, "enqueue_many": True}
            single = batch(tensor_list, batch_size=1, **settings)
            tensor_list = [array.squeeze(x, [0]) for x in (single if isinstance(single, (list, tuple)) else [single])]
        probability = accept_prob_fn(tensor_list)
        probability.get_shape().assert_is_compatible_with([])
        if runtime_checks:
            checks = [assert_less_equal(0.0, probability), assert_less_equal(probability, 1.0)]
            probability = array.identity(with_dependencies(checks, probability), name="prob_with_checks")
        keep_input = random.random_uniform([]) < probability
        accepted = maybe_batch(tensor_list, keep_input, batch_size, num_threads=queue_threads)
        return accepted if isinstance(accepted, (list, tuple)) else [accepted]
