"""What a model is told of its series: moments, first time and length, gathered from the batches it trains on."""

from __future__ import annotations

import collections

from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.framework import dtypes, nest
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.nn.normalization import moments
from everflow.ops.variables import assign as state
from everflow.ops.variables.initializers import ones_initializer, zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope

Moments = collections.namedtuple("Moments", ["mean", "variance"])

InputStatistics = collections.namedtuple(
    "InputStatistics", ["series_start_moments", "overall_feature_moments", "start_time", "total_observation_count"]
)

_Sums = collections.namedtuple(
    "_Sums",
    [
        "max_time_seen",
        "chunk_count",
        "inter_observation_duration_sum",
        "example_count",
        "overall_feature_sum",
        "overall_feature_sum_of_squares",
    ],
)


class InputStatisticsFromMiniBatch:
    """Gathers the statistics of a series from windows of it.

    Args:
        num_features: How many values a step has.
        dtype: Their type.
        starting_variance_window_size: How many steps at the beginning give the moments of the beginning.
    """

    def __init__(self, num_features, dtype, starting_variance_window_size=16):
        self._num_features = num_features
        self._dtype = dtype
        self._starting_variance_window_size = starting_variance_window_size

    def initialize_graph(self, features, update_statistics=True):
        """The statistics as tensors; with `update_statistics`, after the features' windows were counted in."""
        statistics = self._create_variable_statistics_object()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics:
            return statistics
        times = features[TrainEvalFeatures.TIMES]
        counted = self._update_statistics_from_mini_batch(statistics, sums, times, features[TrainEvalFeatures.VALUES])
        with control_dependencies([counted]):
            known = InputStatistics(
                series_start_moments=Moments(*map(array.identity, statistics.series_start_moments)),
                overall_feature_moments=Moments(*map(array.identity, statistics.overall_feature_moments)),
                start_time=array.identity(statistics.start_time),
                total_observation_count=array.identity(statistics.total_observation_count),
            )
            # A batch that another step is only about to count may begin earlier.
            return known._replace(start_time=math.minimum(known.start_time, math.reduce_min(times)))

    def _variable(self, name, shape, dtype, initializer):
        return get_variable(name, shape=shape, dtype=dtype, initializer=initializer, trainable=False)

    def _create_variable_statistics_object(self):
        size, dtype = [self._num_features], self._dtype
        with variable_scope("input_statistics", use_resource=True):
            start = Moments(
                self._variable("series_start_mean", size, dtype, zeros_initializer()),
                self._variable("series_start_variance", size, dtype, ones_initializer()),
            )
            overall = Moments(
                self._variable("overall_feature_mean", size, dtype, zeros_initializer()),
                self._variable("overall_feature_var", size, dtype, ones_initializer()),
            )
            return InputStatistics(
                series_start_moments=start,
                overall_feature_moments=overall,
                start_time=self._variable("start_time", None, dtypes.int64, dtypes.int64.max),
                total_observation_count=self._variable("total_observation_count", [], dtypes.int64, ones_initializer()),
            )

    def _sums(self):
        """What is added up over batches, of which the statistics are made."""
        zeros, size = zeros_initializer(), [self._num_features]
        return _Sums(
            max_time_seen=self._variable("max_time_seen", None, dtypes.int64, dtypes.int64.min),
            chunk_count=self._variable("chunk_count", [], dtypes.int64, zeros),
            inter_observation_duration_sum=self._variable("inter_observation_duration_sum", [], self._dtype, zeros),
            example_count=self._variable("example_count", [], dtypes.int64, zeros),
            overall_feature_sum=self._variable("overall_feature_sum", size, self._dtype, zeros),
            overall_feature_sum_of_squares=self._variable("overall_feature_sum_of_squares", size, self._dtype, zeros),
        )

    def _update_statistics_from_mini_batch(self, statistics, auxiliary_variables, times, values):
        sums = auxiliary_variables
        between = math.cast(math.reduce_max(times, axis=1) - math.reduce_min(times, axis=1), self._dtype) / math.cast(
            array.shape(times)[1] - 1, self._dtype
        )
        seen = state.assign(sums.max_time_seen, math.maximum(sums.max_time_seen, math.reduce_max(times)))
        added = group(
            seen,
            state.assign_add(sums.chunk_count, array.shape(times, out_type=dtypes.int64)[0]),
            state.assign_add(sums.inter_observation_duration_sum, math.reduce_sum(between)),
            state.assign_add(sums.example_count, array.size(times, out_type=dtypes.int64)),
            state.assign_add(sums.overall_feature_sum, math.reduce_sum(values, axis=[0, 1])),
            state.assign_add(sums.overall_feature_sum_of_squares, math.reduce_sum(values**2, axis=[0, 1])),
        )
        with control_dependencies([added]):
            count = math.cast(sums.example_count, self._dtype)
            mean = sums.overall_feature_sum / count
            overall = statistics.overall_feature_moments
            mean_assigned = state.assign(overall.mean, mean)
            # Of a sample rather than of all there is.
            variance = count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean**2)
            variance_assigned = state.assign(overall.variance, variance)
            start = self._update_start(statistics, times, values)
            with control_dependencies([start]):
                start_time = state.assign(
                    statistics.start_time, math.minimum(statistics.start_time, math.reduce_min(times))
                )
            duration = sums.inter_observation_duration_sum / math.cast(sums.chunk_count, self._dtype)
            whole = math.cast(seen - start_time + 1, self._dtype)
            observed = state.assign(
                statistics.total_observation_count, math.cast(math.round(whole / duration), dtypes.int64)
            )
            return group(mean_assigned, variance_assigned, start, start_time, observed)

    def _update_start(self, statistics, times, values):
        """The moments of the beginning, taken anew from the window that begins as early as any."""
        first = math.cast(math.argmin(times[:, 0]), dtypes.int32)

        def assigned():
            mean, variance = moments(values[first, : self._starting_variance_window_size], axes=[0])
            return group(
                state.assign(statistics.series_start_moments.mean, mean),
                state.assign(statistics.series_start_moments.variance, variance),
            )

        return cond(times[first, 0] <= statistics.start_time, assigned, no_op)


def replicate_state(start_state, batch_size):
    """The state of one series for each of `batch_size`: parts get a first dimension."""

    def replicated(part):
        one = array.expand_dims(part, 0)
        ones = array.ones([array.rank(part)], dtype=dtypes.int32)
        return array.tile(one, array.concat([[batch_size], ones], axis=0))

    return nest.map_structure(replicated, start_state)
