"""tf.contrib.distributions: what tf.distributions has, and many more."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.distributions import bijectors
from everflow.contrib.distributions.autoregressive import Autoregressive
from everflow.contrib.distributions.batch_reshape import BatchReshape
from everflow.contrib.distributions.bijectors.elementwise import softplus_inverse
from everflow.contrib.distributions.conditional import ConditionalDistribution, ConditionalTransformedDistribution
from everflow.contrib.distributions.conjugates import (
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
)
from everflow.contrib.distributions.counts import (
    Binomial,
    Deterministic,
    Geometric,
    NegativeBinomial,
    Poisson,
    VectorDeterministic,
)
from everflow.contrib.distributions.estimator_head import estimator_head_distribution_regression
from everflow.contrib.distributions.matrices import (
    SeedStream,
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    reduce_weighted_logsumexp,
    tridiag,
)
from everflow.contrib.distributions.mixtures import Independent, Mixture, MixtureSameFamily
from everflow.contrib.distributions.multivariate_normal import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
)
from everflow.contrib.distributions.one_hot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from everflow.contrib.distributions.percentile import percentile
from everflow.contrib.distributions.quadrature import (
    PoissonLogNormalQuadratureCompound,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
    quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from everflow.contrib.distributions.scalars import (
    Cauchy,
    Chi2,
    Chi2WithAbsDf,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Logistic,
)
from everflow.contrib.distributions.statistics import (
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
)
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.contrib.distributions.transformed_kinds import Kumaraswamy, QuantizedDistribution, SinhArcsinh
from everflow.contrib.distributions.vector_diffeomixture import VectorDiffeomixture
from everflow.contrib.distributions.vectors import VectorExponentialDiag, VectorLaplaceDiag, VectorSinhArcsinhDiag
from everflow.contrib.distributions.wishart import WishartCholesky, WishartFull
from everflow.distributions import *  # noqa: F403  all of tf.distributions is here too
from everflow.distributions.beta import BetaWithSoftplusConcentration
from everflow.distributions.gamma import ExponentialWithSoftplusRate, GammaWithSoftplusConcentrationRate
from everflow.distributions.location_scale import (
    LaplaceWithSoftplusScale,
    NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale,
)
