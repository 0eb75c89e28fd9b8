"""How a state space model is set up."""

from __future__ import annotations

import typing
from collections.abc import Callable

from everflow.contrib.timeseries.covariances import log_noninformative_covariance_prior
from everflow.framework import dtypes


class _Settings(typing.NamedTuple):
    num_features: int
    use_observation_noise: bool
    dtype: dtypes.DType
    covariance_prior_fn: Callable
    bayesian_prior_weighting: bool
    filtering_postprocessor: object
    trainable_start_state: bool
    exogenous_noise_increases: bool
    exogenous_noise_decreases: bool
    exogenous_feature_columns: list
    exogenous_update_condition: Callable | None
    filtering_maximum_posterior_variance_ratio: float
    filtering_minimum_posterior_variance: float
    transition_covariance_initial_log_scale_bias: float
    static_unrolling_window_size_threshold: int | None


class StateSpaceModelConfiguration(_Settings):
    """What all state space models can be told.

    Args:
        num_features: How many values a step has.
        use_observation_noise: Whether something is added to observations beside what changes states.
        dtype: The type of values.
        covariance_prior_fn: `fn(covariance)`: the logarithm of a prior, which training takes into account.
        bayesian_prior_weighting: Whether priors count less the longer the series; the length of windows counts otherwise.
        filtering_postprocessor: A `FilteringStepPostprocessor`, such as a detector of outliers.
        trainable_start_state: Whether the state before anything was seen is trained.
        exogenous_noise_increases: Whether further features move states and make them less certain.
        exogenous_noise_decreases: Whether further features are observations of states, which make them more certain.
        exogenous_feature_columns: Feature columns of what else is known of each step.
        exogenous_update_condition: `fn(times, features)` that says whether a step's further features count.
        filtering_maximum_posterior_variance_ratio: How many times the smallest variance of a state the largest may be.
        filtering_minimum_posterior_variance: What no variance of a state is below.
        transition_covariance_initial_log_scale_bias: The logarithm of how much smaller the noise of transitions is at
            first than that of observations.
        static_unrolling_window_size_threshold: Series of fewer steps are drawn step by step, rather than as a loop.
    """

    __slots__ = ()

    def __new__(
        cls,
        num_features=1,
        use_observation_noise=True,
        dtype=dtypes.float32,
        covariance_prior_fn=log_noninformative_covariance_prior,
        bayesian_prior_weighting=True,
        filtering_postprocessor=None,
        trainable_start_state=False,
        exogenous_noise_increases=True,
        exogenous_noise_decreases=False,
        exogenous_feature_columns=None,
        exogenous_update_condition=None,
        filtering_maximum_posterior_variance_ratio=1e6,
        filtering_minimum_posterior_variance=0.0,
        transition_covariance_initial_log_scale_bias=-5.0,
        static_unrolling_window_size_threshold=None,
    ):
        given = dict(locals())
        del given["cls"], given["__class__"]
        given["exogenous_feature_columns"] = given["exogenous_feature_columns"] or []
        return super().__new__(cls, **given)
