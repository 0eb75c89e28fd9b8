"""Choosing elements so that their classes come in wanted proportions."""

from __future__ import annotations

import numpy as np

from everflow.data.dataset import Dataset
from everflow.data.experimental.sources import sample_from_datasets
from everflow.data.experimental.transformations import scan
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.io import printing
from everflow.ops.random import distributions as random

# How many elements the estimate of the classes' proportions takes in at once, and begins with for each class.
_BATCH = 32
_BEGIN_WITH = 10


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """Pairs (class, element) of a dataset, some left out so that the classes come in the proportions `target_dist`.

    Args:
        class_func: A function of an element that gives its class, an int32.
        target_dist: The proportions wanted.
        initial_dist: The dataset's own proportions; estimated on the way if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices([0, 1, 1, 1]).repeat()
        >>> even = tf.data.experimental.rejection_resample(lambda x: x, [1.0, 0.0], [0.25, 0.75], seed=1)
        >>> sess.run(dataset.apply(even).make_one_shot_iterator().get_next())
        (np.int32(0), np.int32(0))
    """

    def apply(dataset):
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            accepted, kept = _acceptance(initial, target)
            initials = Dataset.from_tensors(initial).repeat()
            acceptances = Dataset.from_tensors(accepted).repeat()
            originals = Dataset.from_tensors(kept).repeat()
        else:
            initials = _estimated(target.shape.size(0) or array.shape(target)[0], classes)
            both = initials.map(lambda initial: _acceptance(initial, target))
            acceptances = both.map(lambda accepted, kept: accepted)
            originals = both.map(lambda accepted, kept: kept)
        known = None if initial_dist is None else _kept_of_constants(initial, target)
        chosen = _filtered(dataset, acceptances, initials, classes, seed)
        if known == 1:  # all can be taken as they are
            return Dataset.zip((classes, dataset))
        if known == 0:
            return chosen
        return sample_from_datasets(
            [Dataset.zip((classes, dataset)), chosen], originals.map(lambda kept: [(kept, 1.0 - kept)]), seed
        )

    return apply


def _kept_of_constants(initial, target):
    """The part of all elements that can be taken as they are, where it is known while the graph is drawn; else None."""
    initial, target = constant_value(initial), constant_value(target)
    if initial is None or target is None:
        return None
    return np.min(target / (initial + np.finfo(initial.dtype).tiny))


def _acceptance(initial, target):
    """How likely an element of each class is taken, and the part of all elements that can be taken as they are."""
    tiny = np.finfo(initial.dtype.as_numpy_dtype).tiny
    ratios = target / (initial + tiny)
    most, least = math.reduce_max(ratios), math.reduce_min(ratios)
    return (ratios - least) / (most - least), least


def _estimated(count, classes):
    """The proportions of the classes seen so far, for each element."""

    def update_estimate_and_tile(seen, values):
        seen = math.add(seen, math.reduce_sum(array.one_hot(values, count, dtype=dtypes.int64), 0))
        proportions = math.cast(seen / math.reduce_sum(seen), dtypes.float32)
        return seen, array.tile(array.expand_dims(proportions, 0), [_BATCH, 1])

    begin = array.fill([count], np.int64(_BEGIN_WITH))
    return classes.batch(_BATCH).apply(scan(begin, update_estimate_and_tile)).unbatch()


def _filtered(dataset, acceptances, initials, classes, seed):
    def maybe_warn_on_large_rejection(accepted, initial):
        rejected = math.reduce_sum((1 - accepted) * initial)
        told = {"message": "Proportion of examples rejected by sampler is high: ", "summarize": 100, "first_n": 10}

        def warned():
            return printing.Print(accepted, [rejected, initial, accepted], **told)

        return cond(math.less(rejected, 0.5), lambda: accepted, warned)

    def _gather_and_copy(value, accepted, element):
        return value, array.gather(accepted, value), element

    acceptances = Dataset.zip((acceptances, initials)).map(maybe_warn_on_large_rejection)
    chances = Dataset.zip((classes, acceptances, dataset)).map(_gather_and_copy)
    chosen = chances.filter(lambda _, chance, __: random.random_uniform([], seed=seed, dtype=chance.dtype) < chance)
    return chosen.map(lambda value, _, element: (value, element)).prefetch(3)
