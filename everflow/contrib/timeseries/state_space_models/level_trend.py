"""A level that a trend is added to at each step."""

from __future__ import annotations

from everflow.contrib.timeseries.state_space_models.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space_models.state_space_model import StateSpaceModel
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.linalg.decompositions import eye
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import variable_scope


class AdderStateSpaceModel(StateSpaceModel):
    """A level and a trend; the level is seen, the trend is added to it at each step, and noise to both.

    Args:
        use_level_noise: Whether noise is added to the level, besides that of the trend.
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(self, use_level_noise=True, configuration=StateSpaceModelConfiguration()):  # noqa: B008  A tuple.
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self):
        with variable_scope(self._variable_scope):
            if self._input_statistics is None:
                return super().get_prior_mean()
            level = math.reduce_mean(self._scale_data(self._input_statistics.series_start_moments.mean))
            start = array.stack([level, 0.0])
            return start + self._prior_mean_variable(2, zeros_initializer())

    def transition_to_powers(self, powers):
        # A trend is added as many times as there are steps.
        beside = array.concat([array.zeros([array.rank(powers), 2], dtype=dtypes.int32), [[0, 1], [1, 0]]], axis=0)
        trend = array.pad(powers[..., None, None], beside)
        unit = eye(2, batch_shape=array.shape(powers), dtype=self.dtype)
        return unit + math.cast(trend, self.dtype)

    def transition_power_noise_accumulator(self, num_steps):
        # Sums over steps of 1, of their number and of its square have closed forms.
        steps = math.cast(num_steps, self.dtype)
        last = steps - 1.0
        noise_transform = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype)
        noise = math.matmul(
            math.matmul(noise_transform, self.state_transition_noise_covariance), noise_transform, adjoint_b=True
        )
        level, level_trend, trend_level, trend = array.unstack(array.reshape(noise, [-1, 4]), num=4, axis=1)
        numbers = last * (last + 1.0) / 2.0
        squares = numbers * (2.0 * last + 1.0) / 3.0
        found = array.stack(
            [
                steps * level + numbers * (level_trend + trend_level) + squares * trend,
                steps * level_trend + numbers * trend,
                steps * trend_level + numbers * trend,
                steps * trend,
            ],
            axis=1,
        )
        return array.reshape(found, array.concat([array.shape(steps), [2, 2]], axis=0))

    def get_state_transition(self):
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self):
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times):
        return constant([1.0, 0.0], dtype=self.dtype)
