"""tf.distributions: probability distributions, to draw from, to score values with and to compare."""

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

__all__ = [
    "FULLY_REPARAMETERIZED",
    "NOT_REPARAMETERIZED",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "Exponential",
    "Gamma",
    "Laplace",
    "Multinomial",
    "Normal",
    "RegisterKL",
    "ReparameterizationType",
    "StudentT",
    "Uniform",
    "kl_divergence",
]
