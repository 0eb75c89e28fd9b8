"""The Kalman filter: states foretold, observations foretold of them, and states corrected by what is observed."""

from __future__ import annotations

from everflow.contrib.timeseries.likelihoods import mvn_tril_log_prob
from everflow.contrib.timeseries.matrices import batch_times_matrix
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.array.diagonals import matrix_diag_part
from everflow.ops.array.layout import matrix_transpose
from everflow.ops.checks.values import verify_tensor_all_finite
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.linalg.decompositions import cholesky, eye, matrix_solve

_ADVICE = (
    "filtering is unstable where variances are far apart or nearly zero: change "
    "filtering_maximum_posterior_variance_ratio, filtering_minimum_posterior_variance (both in "
    "StateSpaceModelConfiguration) or the transition matrix"
)


class KalmanFilter:
    """Filters a batch of states, each with a covariance.

    Args:
        dtype: The type of states.
        simplified_posterior_covariance_computation: Whether covariances are corrected by the short formula, which is
            less stable.
    """

    def __init__(self, dtype=dtypes.float32, simplified_posterior_covariance_computation=False):
        self._simplified_posterior_covariance_computation = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self,
        estimated_state,
        estimated_state_covariance,
        predicted_observation,
        predicted_observation_covariance,
        observation,
        observation_model,
        observation_noise,
    ):
        """(state, its covariance, logarithm of the observation's likelihood) after an observation.

        Args:
            estimated_state: Means of states, `[batch, state]`.
            estimated_state_covariance: Their covariances, `[batch, state, state]`.
            predicted_observation: What is expected, `[batch, observed]`.
            predicted_observation_covariance: Its covariance, `[batch, observed, observed]`.
            observation: What is observed, `[batch, observed]`.
            observation_model: From states to observations, `[batch, observed, state]`.
            observation_noise: The covariance of what is added to observations.
        """
        covariance = predicted_observation_covariance
        symmetric = 0.5 * (covariance + matrix_transpose(covariance))
        symmetric = verify_tensor_all_finite(
            symmetric, f"The covariance of what is expected to be observed is not finite; {_ADVICE}"
        )
        least = math.reduce_min(matrix_diag_part(symmetric))
        positive = Assert(
            least >= 0.0,
            [f"The covariance of what is expected to be observed has a variance below zero; {_ADVICE}", least],
        )
        with control_dependencies([positive]):
            root = cholesky(symmetric)
        log_likelihood = mvn_tril_log_prob(loc=predicted_observation, scale_tril=root, x=observation)
        state, state_covariance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(predicted_observation, covariance),
            observation_noise=observation_noise,
        )
        return state, state_covariance, log_likelihood

    def predict_state_mean(self, prior_state, transition_matrices):
        """Means of states after steps.

        Args:
            prior_state: `[batch, state]`.
            transition_matrices: What the steps do to a state, `[batch, state, state]`.
        """
        return array.squeeze(math.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(self, prior_state_var, transition_matrices, transition_noise_sums):
        """Covariances of states after steps.

        Args:
            prior_state_var: `[batch, state, state]`.
            transition_matrices: What the steps do to a state, `[batch, state, state]`.
            transition_noise_sums: The covariance that the steps add, `[batch, state, state]`.
        """
        moved = math.matmul(math.matmul(transition_matrices, prior_state_var), transition_matrices, adjoint_b=True)
        return moved + transition_noise_sums

    def posterior_from_prior_state(
        self, prior_state, prior_state_var, observation, observation_model, predicted_observations, observation_noise
    ):
        """(mean, covariance) of states after an observation.

        Args:
            prior_state: Means before it, `[batch, state]`.
            prior_state_var: Covariances before it, `[batch, state, state]`.
            observation: What is observed, `[batch, observed]`.
            observation_model: From states to observations, `[batch, observed, state]`.
            predicted_observations: (mean, covariance) of what was expected.
            observation_noise: The covariance of what is added to observations.
        """
        expected, expected_covariance = predicted_observations
        surprise = observation - expected
        gain_transposed = matrix_solve(
            expected_covariance, math.matmul(observation_model, prior_state_var, adjoint_b=True), adjoint=True
        )
        change = math.matmul(gain_transposed, array.expand_dims(surprise, -1), adjoint_a=True)
        mean = prior_state + array.squeeze(change, axis=[-1])
        seen = math.matmul(gain_transposed, observation_model, adjoint_a=True)
        unseen = eye(array.shape(seen)[1], dtype=seen.dtype)[None] - seen
        left = math.matmul(unseen, prior_state_var)
        if self._simplified_posterior_covariance_computation:
            return mean, left
        left = math.matmul(unseen, left, adjoint_b=True)
        if observation_noise.shape.ndims == 2:
            noise = batch_times_matrix(gain_transposed, observation_noise, adj_x=True)
        else:
            noise = math.matmul(gain_transposed, observation_noise, adjoint_a=True)
        return mean, left + math.matmul(noise, gain_transposed)

    def observed_from_state(self, state_mean, state_var, observation_model, observation_noise):
        """(mean, covariance) of what is expected to be observed of states.

        Args:
            state_mean: `[batch, state]`.
            state_var: `[batch, state, state]`.
            observation_model: From states to observations, `[batch, observed, state]`.
            observation_noise: The covariance of what is added to observations.
        """
        mean = array.squeeze(math.matmul(array.expand_dims(state_mean, 1), observation_model, adjoint_b=True), axis=[1])
        covariance = math.matmul(math.matmul(observation_model, state_var), observation_model, adjoint_b=True)
        return mean, covariance + observation_noise
