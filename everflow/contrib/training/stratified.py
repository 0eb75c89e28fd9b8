"""Batches whose labels come in given proportions, by leaving out examples of the labels there are too many of."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks.shapes import assert_integer
from everflow.ops.checks.values import assert_equal, assert_less, assert_non_negative, assert_positive
from everflow.ops.control_flow import Assert, cond
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.io.printing import Print
from everflow.ops.random import distributions as random
from everflow.ops.variables.variable import Variable
from everflow.train.input import batch, maybe_batch

# How far from one the sum of probabilities may be, and how often a class counts as seen before the first example.
_TOLERANCE = 1e-6
_SEEN_BEFORE = 10


def stratified_sample(tensors, labels, target_probs, batch_size, init_probs=None, enqueue_many=False, queue_capacity=16,
                      threads_per_queue=1, name=None):  # fmt: skip
    """([batches], batch of labels): examples accepted by chance, so that labels have the proportions `target_probs`.

    `init_probs` are the proportions in the data; without them they are estimated as examples come.

    >>> (images,), labels = stratified_sample([image], label, [0.5, 0.5], 32)   # as many of either class
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        tensor_list = [convert_to_tensor(tensor) for tensor in tensors]
        labels = convert_to_tensor(labels)
        target_probs = convert_to_tensor(target_probs, dtype=dtypes.float32)
        target_probs.get_shape().assert_is_fully_defined()
        if not enqueue_many:
            tensor_list = [array.expand_dims(tensor, 0) for tensor in tensor_list]
            labels = array.expand_dims(labels, 0)
        if init_probs is None:
            init_probs = _estimated_proportions(labels, target_probs.get_shape().num_elements())
        else:
            init_probs = convert_to_tensor(init_probs, dtype=dtypes.float32)
        tensor_list, labels, init_probs, target_probs = _checked(tensor_list, labels, init_probs, target_probs)
        accept_prob = _acceptance(init_probs, target_probs)
        # One example at a time from here on.
        settings = {"num_threads": threads_per_queue, "capacity": queue_capacity, "enqueue_many": True}
        single = batch([*tensor_list, labels], batch_size=1, **settings)
        *values, label = (array.squeeze(tensor, [0]) for tensor in single)
        probability = array.gather(accept_prob, label)
        keep_input = random.random_uniform([]) < probability
        *batches, label_batch = maybe_batch([*values, label], keep_input, batch_size, num_threads=threads_per_queue)
        return batches, label_batch


def _estimated_proportions(labels, num_classes):
    counts = Variable([_SEEN_BEFORE] * num_classes, trainable=False, name="class_count", dtype=dtypes.int64)
    seen = counts.assign_add(math.reduce_sum(array.one_hot(labels, num_classes, dtype=dtypes.int64), axis=0)) + 0
    return math.cast(seen / math.reduce_sum(seen), dtypes.float32)


def _checked(tensors, labels, init_probs, target_probs):
    """The arguments, with the checks that can only be made when they run."""

    if init_probs.shape.num_elements() != target_probs.shape.num_elements():
        raise ValueError("Probability parameters must have the same length.")

    def probabilities(probs):
        total = math.reduce_sum(probs)
        checks = [assert_non_negative(probs), assert_less(total, 1.0 + _TOLERANCE)]
        checks.append(assert_less(1.0 - _TOLERANCE, total))
        return with_dependencies(checks, probs)

    init_probs, target_probs = probabilities(init_probs), probabilities(target_probs)
    rows = array.shape(labels)[0]
    positive = [assert_positive(rows)]
    labels = with_dependencies(positive, labels)
    tensors = [with_dependencies([*positive, assert_equal(array.shape(tensor)[0], rows)], tensor) for tensor in tensors]
    num_classes = target_probs.get_shape().num_elements()
    in_range = [assert_integer(labels), assert_non_negative(labels)]
    in_range.append(assert_less(labels, math.cast(num_classes, labels.dtype)))
    return tensors, with_dependencies(in_range, labels), init_probs, target_probs


def _acceptance(init_probs, target_probs):
    """How likely to accept an example of each class: the class that is most wanting always."""
    possible = math.reduce_all(math.logical_or(math.not_equal(init_probs, 0), math.equal(target_probs, 0)))
    message = "A class that never comes (initial probability 0) can't be sampled: "
    check = Assert(possible, [message, init_probs, target_probs])
    init_probs = with_dependencies([check], init_probs)
    ratios = target_probs / init_probs
    ratios = array.where_v2(math.is_nan(ratios), array.zeros_like(ratios), ratios)
    accept = ratios / math.reduce_max(ratios)
    rejected = math.reduce_sum((1.0 - accept) * init_probs)
    message = "More than half of the examples are rejected."
    return cond(math.less(rejected, 0.5), lambda: accept, lambda: Print(accept, [accept], message=message, first_n=10))
