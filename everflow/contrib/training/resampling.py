"""Batches with examples repeated and left out at given rates."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import cond, while_loop
from everflow.ops.random import distributions as random
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.train.moving_averages import assign_moving_average


def _repeat_range(counts, name=None):
    """Each position as often as its count says: [2, 0, 1] gives [0, 0, 2]."""
    with name_scope(name, "repeat_range", [counts]) as scope:
        length = array.shape(counts)[0]
        written = TensorArray(dtype=dtypes.int32, size=length, infer_shape=False)

        def write(parts, i):
            return parts.write(i, array.fill(counts[i : i + 1], i)), i + 1

        parts, count = while_loop(lambda _, i: i < length, write, (written, 0))
        # A TensorArray without anything in it can't be joined.
        return cond(count > 0, parts.concat, lambda: array.zeros(shape=[0], dtype=dtypes.int32), name=scope)


def _drawn(rates, seed):
    """Each position as often as a Poisson distribution with its rate draws."""
    return _repeat_range(math.cast(random.random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32))


def resample_at_rate(inputs, rates, scope=None, seed=None, back_prop=False):
    """Rows of `inputs`, each as often as a Poisson distribution with its rate draws."""
    with name_scope(scope, default_name="resample_at_rate", values=list(inputs) + [rates]):
        positions = _drawn(rates, seed)
        if not back_prop:
            positions = array.stop_gradient(positions)
        return [array.gather(rows, positions) for rows in inputs]


def _mean_so_far(value, decay):
    with variable_scope("estimate_mean", values=[value]):
        settings = {"trainable": False, "collections": [GraphKeys.LOCAL_VARIABLES]}
        average = get_variable("estimated_mean", initializer=math.cast(0, value.dtype), **settings)
        return assign_moving_average(average, math.reduce_mean(value), decay)


def weighted_resample(inputs, weights, overall_rate, scope=None, mean_decay=0.999, seed=None):
    """(rows, their rates): each row is drawn in proportion to its weight, `overall_rate` of all rows on average."""
    with name_scope(scope, "weighted_resample", list(inputs) + [weights]):
        mean = _mean_so_far(weights, mean_decay)
        rates = weights * overall_rate / mean
        positions = array.stop_gradient(_drawn(rates, seed))
        resampled_rates = array.gather(rates, positions)
        return [array.gather(rows, positions) for rows in inputs], resampled_rates
