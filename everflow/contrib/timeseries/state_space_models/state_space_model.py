"""`StateSpaceModel`: what models share that say how a hidden state moves on and what of it is observed."""

from __future__ import annotations

import numpy as np

from everflow.contrib.layers.dense import fully_connected
from everflow.contrib.timeseries.covariances import (
    clip_covariance,
    transform_to_covariance_matrices,
    variable_covariance_matrix,
)
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.matrices import matrix_to_powers, power_sums_tensor
from everflow.contrib.timeseries.model import SequentialTimeSeriesModel
from everflow.contrib.timeseries.state_space_models.kalman_filter import KalmanFilter
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.linalg.decompositions import eye
from everflow.ops.variables.scope import get_variable, get_variable_scope, variable_scope


class StateSpaceModel(SequentialTimeSeriesModel):
    """A linear model of a hidden state: a kind says how the state moves on, what noise it gets, and what is seen of it.

    Args:
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(self, configuration):
        self._configuration = configuration
        postprocessor = configuration.filtering_postprocessor
        super().__init__(
            train_output_names=[
                "mean",
                "covariance",
                "log_likelihood",
                *(postprocessor.output_names if postprocessor is not None else ()),
            ],
            predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features,
            normalize_features=True,
            dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=configuration.static_unrolling_window_size_threshold,
        )
        self._kalman_filter = None
        self.prior_state_mean = None
        self.prior_state_var = None
        self.state_transition_noise_covariance = None
        self._total_observation_count = None
        self._observation_noise_covariance = None
        self._observation_transition_tradeoff_log_scale = None
        # Variables are where the model was made, also in graphs that come later.
        self._variable_scope = get_variable_scope()

    # What a kind of model says.

    def get_state_transition(self):
        """The matrix that moves a state on by a step, `[state, state]`."""
        raise NotImplementedError(f"{type(self).__name__} has to say how a state moves on")

    def get_noise_transform(self):
        """The matrix from independent noise to that of states, `[state, noise]`."""
        raise NotImplementedError(f"{type(self).__name__} has to say how noise gets into a state")

    def get_observation_model(self, times):
        """What is seen of a state: `[state]`, `[features, state]`, or with a batch before, as times may matter."""
        raise NotImplementedError(f"{type(self).__name__} has to say what is seen of a state")

    # What follows of it, and may be done faster.

    def transition_to_powers(self, powers):
        """What several steps do to a state: the transition raised to powers `[...]`, `[..., state, state]`."""
        return matrix_to_powers(self.get_state_transition(), powers)

    def transition_power_noise_accumulator(self, num_steps):
        """The covariance that steps add, `[..., state, state]`, for numbers of steps `[...]`."""
        noise_transform = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype)
        noise = math.matmul(
            math.matmul(noise_transform, self.state_transition_noise_covariance), noise_transform, adjoint_b=True
        )
        most = math.reduce_max(num_steps) + 1
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
        return array.gather(power_sums_tensor(most, transition, noise), indices=num_steps)

    def get_broadcasted_observation_model(self, times):
        """What is seen of states at times `[batch]`: `[batch, features, state]`."""
        model = self.get_observation_model(times)
        rank = model.shape.ndims
        if rank == 1:
            alike = array.reshape(model, [1, 1, -1])
            return array.tile(alike, [array.shape(times)[0], self.num_features, 1])
        if rank == 2:
            return array.tile(array.expand_dims(model, axis=0), [array.shape(times)[0], 1, 1])
        if rank == 3:
            return model
        raise ValueError(f"What is seen of a state has rank 1 to 3, not {rank}")

    # Parameters.

    def _set_input_statistics(self, input_statistics=None):
        super().initialize_graph(input_statistics=input_statistics)

    def initialize_graph(self, input_statistics=None):
        """Makes the model's variables; to be called before anything else in a graph."""
        self._set_input_statistics(input_statistics)
        self._define_parameters()
        with variable_scope(self._variable_scope):
            self._observation_noise_covariance = self.get_observation_noise_covariance()
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        with variable_scope(self._variable_scope):
            self._make_priors()

    def _variable_observation_transition_tradeoff_log(self):
        """The logarithm of how much larger the noise of observations is than that of transitions."""
        bias = self._configuration.transition_covariance_initial_log_scale_bias
        with variable_scope(self._variable_scope):
            return get_variable(
                name="observation_transition_tradeoff_log_scale", initializer=constant(-bias, dtype=self.dtype)
            )

    def _define_parameters(self, observation_transition_tradeoff_log=None):
        """Makes what transitions need; the balance of noises is shared by members of an ensemble."""
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _make_priors(self):
        self.prior_state_var = self.get_prior_covariance()
        self.prior_state_mean = self.get_prior_mean()

    def get_prior_covariance(self):
        """The covariance of a state before anything was seen, `[state, state]`."""
        with variable_scope(self._variable_scope):
            size = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).shape.size(0)
            if not self._configuration.trainable_start_state:
                return eye(size, dtype=self.dtype)
            covariance = variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            if self._input_statistics is None:
                return covariance
            largest = math.reduce_max(self._scale_variance(self._input_statistics.series_start_moments.variance))
            return covariance * math.maximum(largest, 1.0)

    def get_prior_mean(self):
        """The mean of a state before anything was seen, `[state]`."""
        with variable_scope(self._variable_scope):
            size = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).shape.size(0)
            return self._prior_mean_variable(size)

    def _prior_mean_variable(self, size, initializer=None):
        return get_variable(
            name="prior_state_mean",
            shape=[size],
            dtype=self.dtype,
            initializer=initializer,
            trainable=self._configuration.trainable_start_state,
        )

    def get_state_transition_noise_covariance(self, minimum_initial_variance=1e-5):
        """The covariance of the noise of a step, `[noise, noise]`.

        Args:
            minimum_initial_variance: What variances are not below at first.
        """
        size = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).shape.size(1)
        scale = 0.0
        if self._input_statistics is not None:
            # Moves over the whole series, rather than at each step.
            start = math.reduce_mean(self._scale_variance(self._input_statistics.series_start_moments.variance))
            count = math.cast(self._input_statistics.total_observation_count, self.dtype)
            scale = math.log(math.maximum(start / count, minimum_initial_variance))
        return variable_covariance_matrix(
            size=size,
            dtype=self.dtype,
            name="state_transition_noise",
            initial_overall_scale_log=scale - self._observation_transition_tradeoff_log_scale,
        )

    def get_observation_noise_covariance(self, minimum_initial_variance=1e-5):
        """The covariance of what is added to observations, `[features, features]`.

        Args:
            minimum_initial_variance: What variances are not below at first.
        """
        if not self._configuration.use_observation_noise:
            return array.zeros(
                [self.num_features, self.num_features], dtype=self.dtype, name="observation_noise_covariance"
            )
        variances = None
        if self._input_statistics is not None:
            variances = self._scale_variance(self._input_statistics.series_start_moments.variance)
            variances = math.maximum(variances, minimum_initial_variance)
        return variable_covariance_matrix(
            size=self.num_features,
            dtype=self.dtype,
            name="observation_noise_covariance",
            initial_diagonal_values=variances,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    # States and steps.

    def get_start_state(self):
        """(mean, covariance, time) of the state before anything was seen."""
        known = self._input_statistics
        first = array.zeros([], dtype=dtypes.int64) if known is None else known.start_time
        return self.prior_state_mean, self.prior_state_var, first - 1

    def get_features_for_timesteps(self, timesteps):
        """Features of times that the model makes itself: none."""
        return array.zeros([array.shape(timesteps)[0], 0], dtype=self.dtype)

    def _window_initializer(self, times, state):
        """Transitions over all gaps that a batch has, which its steps look up."""
        _, _, last_times = state
        between = array.reshape(times[:, 1:] - times[:, :-1], [-1])
        before = math.maximum(times[:, 0] - last_times, 0)
        self._window_gaps, _ = array.unique(array.concat([between, before], axis=0))
        self._window_noises = self.transition_power_noise_accumulator(self._window_gaps)
        self._window_transitions = self.transition_to_powers(self._window_gaps)

    def _lookup_window_caches(self, caches, indices):
        """What caches have for gaps, `[batch]`."""
        _, places = array.unique(array.concat([self._window_gaps, indices], axis=0))
        return [array.gather(cache, places[-array.shape(indices)[0] :]) for cache in caches]

    def _cached_transition_powers_and_sums(self, num_steps):
        """What numbers of steps do to a state, and the covariance they add."""
        return self._lookup_window_caches([self._window_transitions, self._window_noises], num_steps)

    def _imputation_step(self, current_times, state):
        mean, covariance, last_times = state
        gap = math.maximum(current_times - last_times, 0)
        transitions, noises = self._cached_transition_powers_and_sums(gap)
        moved = self._kalman_filter.predict_state_mean(mean, transitions)
        return moved, self._kalman_filter.predict_state_var(covariance, transitions, noises), last_times + gap

    def _prediction_step(self, current_times, state):
        mean, covariance, last_times = state
        reached = Assert(
            math.reduce_all(current_times <= last_times), ["A prediction needs a state that was brought to its time"]
        )
        with control_dependencies([reached]):
            observation_model = self.get_broadcasted_observation_model(current_times)
            seen_mean, seen_covariance = self._kalman_filter.observed_from_state(
                mean, covariance, observation_model, self._observation_noise_covariance
            )
        return (mean, covariance, current_times), {"mean": seen_mean, "covariance": seen_covariance}

    def _filtering_step(self, current_times, current_values, state, predictions):
        mean, covariance, last_times = state
        observation_model = self.get_broadcasted_observation_model(current_times)
        reached = Assert(
            math.reduce_all(math.equal(last_times, current_times)),
            ["Values are seen by a state that was brought to their time"],
        )
        with control_dependencies([reached]):
            bounded = clip_covariance(
                covariance,
                self._configuration.filtering_maximum_posterior_variance_ratio,
                self._configuration.filtering_minimum_posterior_variance,
            )
            filtered_mean, filtered_covariance, log_likelihood = self._kalman_filter.do_filter(
                estimated_state=mean,
                estimated_state_covariance=bounded,
                predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"],
                observation=current_values,
                observation_model=observation_model,
                observation_noise=self._observation_noise_covariance,
            )
        filtered = (filtered_mean, filtered_covariance, current_times)
        outputs = {**predictions, "log_likelihood": log_likelihood, "loss": -log_likelihood}
        if self._configuration.filtering_postprocessor is None:
            return filtered, outputs
        return self._configuration.filtering_postprocessor.process_filtering_step(
            current_times=current_times,
            current_values=current_values,
            predicted_state=state,
            filtered_state=filtered,
            outputs=outputs,
        )

    def _scale_back_predictions(self, predictions):
        return {
            **predictions,
            "mean": self._scale_back_data(predictions["mean"]),
            "covariance": self._scale_back_variance(predictions["covariance"]),
        }

    def _loss_additions(self, times, values, mode):
        """Priors of covariances, which count for less the more there is to learn from."""
        if mode != ModeKeys.TRAIN:
            return array.zeros([], dtype=self.dtype)
        if self._configuration.bayesian_prior_weighting and self._input_statistics is not None:
            count = self._input_statistics.total_observation_count
        else:
            count = array.shape(times)[1]
        weight = 1.0 / math.cast(count, self.dtype)
        prior = self._configuration.covariance_prior_fn(self.state_transition_noise_covariance)
        if self._configuration.use_observation_noise and self._observation_noise_covariance is not None:
            prior = prior + self._configuration.covariance_prior_fn(self._observation_noise_covariance)
        return -weight * prior

    # Further features.

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        settings = self._configuration
        for wanted, way in (
            (settings.exogenous_noise_decreases, self._exogenous_noise_decreasing),
            (settings.exogenous_noise_increases, self._exogenous_noise_increasing),
        ):
            if wanted:
                state = way(current_times, current_exogenous_regressors, state)
        return state

    def _exogenous_noise_decreasing(self, current_times, exogenous_values, state):
        """Features as an observation of the whole state."""
        mean, covariance, times = state
        size = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).shape.size(0)
        whole = eye(size, batch_shape=array.shape(exogenous_values)[:-1], dtype=self.dtype)
        with variable_scope("exogenous_noise_decreasing_covariance"):
            noise = transform_to_covariance_matrices(exogenous_values, size)
        with variable_scope("exogenous_noise_decreasing_observation"):
            observation = fully_connected(exogenous_values, size, activation_fn=None)
        mean, covariance = self._kalman_filter.posterior_from_prior_state(
            prior_state=mean,
            prior_state_var=covariance,
            observation=observation,
            observation_model=whole,
            predicted_observations=(mean, noise + covariance),
            observation_noise=noise,
        )
        return mean, covariance, times

    def _exogenous_noise_increasing(self, current_times, exogenous_values, state):
        """Features as a move of the state, with noise."""
        mean, covariance, times = state
        size = mean.shape.size(1)
        with variable_scope("exogenous_noise_increasing_mean"):
            move = fully_connected(exogenous_values, size, activation_fn=None)
        with variable_scope("exogenous_noise_increasing_covariance"):
            noise = transform_to_covariance_matrices(exogenous_values, size)
        return mean + move, covariance + noise, times

    # Series drawn from the model.

    def _check_univariate(self):
        if self.num_features != 1:
            raise NotImplementedError(f"Series are drawn from models of one feature, not of {self.num_features}")

    def random_model_parameters(self, seed=None):
        """{tensor: value} of parameters to draw series with.

        Args:
            seed: Where random numbers begin.
        """
        self._check_univariate()
        random = np.random.RandomState(seed)
        found = {}
        size = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).shape.size(1)
        noise = np.diag(1.0 / random.gamma(shape=10.0, scale=10.0, size=size))
        if self.prior_state_mean is not None:
            found[self.prior_state_mean] = random.normal(size=self.prior_state_mean.shape[0].value)
        found[self.state_transition_noise_covariance] = noise
        if self.prior_state_var is not None:
            found[self.prior_state_var] = np.zeros(self.prior_state_var.shape.as_list())
        if self._configuration.use_observation_noise:
            found[self._observation_noise_covariance] = [[1.0 / random.gamma(shape=4.0, scale=4.0)]]
        return found

    def generate(self, number_of_series, series_length, model_parameters=None, seed=None, add_observation_noise=None):
        """{"times": `[series, steps]`, "values": `[series, steps, 1]`} of series drawn from the model, in a default session.

        Args:
            number_of_series: How many series to draw.
            series_length: How many steps they have.
            model_parameters: {tensor: value} of parameters that aren't as they are in the session.
            seed: Where random numbers begin.
            add_observation_noise: Whether noise is added to what is seen; as configured by default.
        """
        self._check_univariate()
        if add_observation_noise is None:
            add_observation_noise = self._configuration.use_observation_noise
        random, given = np.random.RandomState(seed), model_parameters or {}

        def value(tensor):
            return convert_to_tensor(tensor, dtype=self.dtype).eval(feed_dict=given)

        transition = value(self.get_state_transition())
        noise_transform = value(self.get_noise_transform())
        noise_covariance = value(self.state_transition_noise_covariance)
        state = np.tile(value(self.prior_state_mean)[None, :, None], [number_of_series, 1, 1])
        values = np.zeros([number_of_series, series_length, 1])
        for step in range(series_length):
            drawn = random.multivariate_normal(
                mean=np.zeros(len(noise_covariance)), cov=noise_covariance, size=number_of_series
            ).astype(self.dtype.as_numpy_dtype)
            state = transition @ state + noise_transform @ drawn[..., None]
            seen = value(self.get_broadcasted_observation_model(constant(step, shape=[1], dtype=dtypes.int64)))
            values[:, step] = (seen @ state)[..., 0]
            if add_observation_noise:
                covariance = value(self._observation_noise_covariance)
                values[:, step] += random.multivariate_normal(
                    mean=np.zeros(self.num_features), cov=covariance, size=number_of_series
                )
        times = np.tile(np.arange(series_length)[None], [number_of_series, 1])
        return {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: values}
