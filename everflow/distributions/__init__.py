"""tf.distributions: probability distributions, to draw from, to score values with and to compare."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.distributions.beta import Beta, Dirichlet
from everflow.distributions.discrete import Bernoulli, Categorical
from everflow.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from everflow.distributions.gamma import Exponential, Gamma
from everflow.distributions.kullback_leibler import RegisterKL, kl_divergence
from everflow.distributions.location_scale import Laplace, Normal, StudentT
from everflow.distributions.multinomial import DirichletMultinomial, Multinomial
from everflow.distributions.uniform import Uniform
from everflow.framework.lazy_names import imported_names as _imported_names

__all__ = [name for name in _imported_names(__file__) if not name.startswith("_")]
