"""Vector autoregression with a moving average of noise, as a state space model."""

from __future__ import annotations

from everflow.contrib.timeseries.covariances import variable_covariance_matrix
from everflow.contrib.timeseries.state_space_models.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space_models.state_space_model import StateSpaceModel
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.linalg.decompositions import eye
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope


class VARMA(StateSpaceModel):
    """Values that depend linearly on earlier values and on earlier noise.

    Args:
        autoregressive_order: On how many earlier values.
        moving_average_order: On the noise of how many earlier steps.
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        autoregressive_order,
        moving_average_order,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  A tuple.
    ):
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.ar_coefs = None
        self.ma_coefs = None
        super().__init__(configuration=configuration)
        # A block of the state for each earlier value, or for each earlier noise and the present one.
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _define_parameters(self, observation_transition_tradeoff_log=None):
        size = self.num_features
        with variable_scope(self._variable_scope):
            self.ar_coefs = get_variable(
                name="ar_coefs",
                shape=[size, size, self.ar_order],
                dtype=self.dtype,
                initializer=zeros_initializer(),
            )
            self.ma_coefs = get_variable(
                name="ma_coefs",
                initializer=array.tile(eye(size, dtype=self.dtype)[None, :, :], [self.ma_order, 1, 1]),
                dtype=self.dtype,
            )
        super()._define_parameters(observation_transition_tradeoff_log=observation_transition_tradeoff_log)

    def get_state_transition_noise_covariance(self, minimum_initial_variance=1e-5):
        scale = 0.0
        if self._input_statistics is not None:
            # The noise alone has to explain the series at first.
            start = self._scale_variance(self._input_statistics.series_start_moments.variance)
            scale = math.log(math.maximum(math.reduce_mean(start), minimum_initial_variance))
        size = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).shape.size(1)
        return variable_covariance_matrix(
            size=size, dtype=self.dtype, name="state_transition_noise", initial_overall_scale_log=scale
        )

    def get_state_transition(self):
        size, others = self.num_features, self.state_num_blocks - 1
        coefficients = array.reshape(
            array.pad(self.ar_coefs, [[0, 0], [0, 0], [0, self.state_num_blocks - self.ar_order]]),
            [size, self.state_dimension],
        )
        shift = array.pad(eye(others * size, dtype=self.dtype), [[0, 0], [0, size]])
        return array.concat([coefficients, shift], axis=0)

    def get_noise_transform(self):
        size, others = self.num_features, self.state_num_blocks - 1
        averages = array.reshape(
            array.pad(self.ma_coefs, [[others - self.ma_order, 0], [0, 0], [0, 0]]),
            [others * size, size],
            name="noise_transform",
        )
        return array.concat([averages, eye(size, dtype=self.dtype)], axis=0)

    def get_observation_model(self, times):
        size, others = self.num_features, self.state_num_blocks - 1
        if self.ar_order > self.ma_order:
            return array.pad(eye(size, dtype=self.dtype), [[0, 0], [0, others * size]], name="observation_model")
        first = array.pad(eye(size, dtype=self.dtype), [[0, 0], [0, (others - 1) * size]])
        return array.concat([first, eye(size, dtype=self.dtype)], axis=1, name="observation_model")
