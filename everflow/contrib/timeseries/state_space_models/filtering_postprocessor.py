"""What may look at each filtered step of a state space model: outliers, which change states less."""

from __future__ import annotations

import abc

from everflow.contrib.timeseries.likelihoods import cauchy_log_prob, entropy_matched_cauchy_scale
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.checks.values import assert_equal


class FilteringStepPostprocessor(abc.ABC):
    """Changes the state and the outputs of a filtered step."""

    @abc.abstractmethod
    def process_filtering_step(self, current_times, current_values, predicted_state, filtered_state, outputs):
        """(state, outputs) to go on with, outputs with those of `output_names` besides.

        Args:
            current_times: The times of the step, `[batch]`.
            current_values: Its values, `[batch, features]`.
            predicted_state: The state before the values were seen.
            filtered_state: The state after.
            outputs: What the step gives: `"mean"`, `"covariance"`, `"log_likelihood"` and `"loss"`.
        """

    @property
    @abc.abstractmethod
    def output_names(self):
        """The names of outputs that are added."""


def cauchy_alternative_to_gaussian(current_times, current_values, outputs):
    """The log likelihood of values that are outliers: Cauchy distributions as uncertain as the prediction."""
    del current_times  # Outliers are as likely at any time.
    scale = entropy_matched_cauchy_scale(outputs["covariance"])
    return math.reduce_sum(cauchy_log_prob(loc=outputs["mean"], scale=scale, x=current_values), axis=1)


def _interpolate_state_linear(first_state, second_state, first_responsibility):
    """A state between two, as near the first as its responsibility, `[batch]`, says."""
    mixed = []
    for first, second in zip(first_state, second_state, strict=True):
        if first.dtype.is_floating:
            batch = array.shape(first_responsibility)
            ones = array.ones([array.rank(first) - 1], dtype=dtypes.int32)
            share = array.reshape(first_responsibility, array.concat([batch, ones], axis=0))
            mixed.append(share * first + (1.0 - share) * second)
        else:
            # Times, which both have in common.
            with control_dependencies([assert_equal(first, second)]):
                mixed.append(array.identity(first))
    return tuple(mixed)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Scores how likely each value is an outlier; the likelier, the less it changes the state.

    Args:
        anomaly_log_likelihood: `fn(times, values, outputs)` with the log likelihood of values that are outliers.
        anomaly_prior_probability: How likely an outlier is before anything was seen.
        responsibility_scaling: What log odds are multiplied by: above 1 for more decided changes of states.
    """

    output_names = ["anomaly_score"]

    def __init__(
        self,
        anomaly_log_likelihood=cauchy_alternative_to_gaussian,
        anomaly_prior_probability=0.01,
        responsibility_scaling=1.0,
    ):
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._anomaly_prior_probability = anomaly_prior_probability
        self._responsibility_scaling = responsibility_scaling

    def process_filtering_step(self, current_times, current_values, predicted_state, filtered_state, outputs):
        normal = outputs["log_likelihood"]
        outlier = self._anomaly_log_likelihood(
            current_times=current_times, current_values=current_values, outputs=outputs
        )
        prior = convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        outlier = outlier + math.log(prior)
        normal = normal + math.log(1.0 - prior)
        score = outlier - normal
        responsibility = math.sigmoid(-self._responsibility_scaling * score)
        state = _interpolate_state_linear(
            first_state=filtered_state, second_state=predicted_state, first_responsibility=responsibility
        )
        mixed = responsibility * normal + (1.0 - responsibility) * outlier
        return state, {**outputs, "anomaly_score": score, "loss": -mixed}
