"""Mixtures over a continuous parameter, made finite by quadrature: so many points stand for all of its values."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.bijectors.elementwise import Exp
from everflow.contrib.distributions.bijectors.shapes import SoftmaxCentered
from everflow.contrib.distributions.counts import Poisson
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions.checks import gen_new_seed
from everflow.distributions.discrete import Categorical
from everflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.location_scale import Normal
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.random import distributions as random


def quadrature_scheme_lognormal_gauss_hermite(loc, scale, quadrature_size, validate_args=False, name=None):
    """(grid, probabilities) of a normal distribution by Gauss and Hermite: points on one more axis."""
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        loc, scale = convert_to_tensor(loc), convert_to_tensor(scale)
        grid, probs = _gauss_hermite(loc.dtype, quadrature_size)
        return loc[..., None] + np.sqrt(2.0) * scale[..., None] * grid, probs


def _gauss_hermite(dtype, size):
    grid, probs = np.polynomial.hermite.hermgauss(deg=size)
    probs /= np.linalg.norm(probs, ord=1, keepdims=True)
    return grid.astype(dtype.as_numpy_dtype), convert_to_tensor(probs, name="probs", dtype=dtype)


def quadrature_scheme_lognormal_quantiles(loc, scale, quadrature_size, validate_args=False, name=None):
    """(grid, probabilities) of a log-normal distribution by its quantiles: points between them, all of one weight."""
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        lognormal = TransformedDistribution(Normal(loc=loc, scale=scale), bijector=Exp(), validate_args=validate_args)
        ndims = lognormal.batch_shape.ndims
        ndims = array.shape(lognormal.batch_shape_tensor())[0] if ndims is None else ndims
        return _between_quantiles(lognormal.quantile, lognormal, ndims, quadrature_size, lognormal.batch_shape)


def _between_quantiles(quantile, distribution, ndims, size, static_shape):
    """Points between the quantiles of a distribution that cut it into pieces of one probability, on a last axis more."""
    zero = array.zeros([], dtype=distribution.dtype)
    edges = math.lin_space(zero, 1.0, size + 3)[1:-1]
    edges = array.reshape(edges, array.concat([[-1], array.ones([ndims], dtype=dtypes.int32)], 0))
    quantiles = quantile(edges)
    quantiles = array.transpose(quantiles, array.concat([math.range(1, 1 + ndims), [0]], 0))
    grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
    grid.set_shape(static_shape.concatenate([size]))
    return grid, array.fill([size], 1.0 / math.cast(size, distribution.dtype))


def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc, normal_scale, quadrature_size, validate_args=False, name=None
):
    """(grid, probabilities) of the softmax of a normal draw and 0, by Gauss and Hermite; of shape [batch..., 2, size]."""
    with name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        normal_loc, normal_scale = _bimixture(normal_loc, normal_scale, validate_args)
        points, probs = _gauss_hermite(normal_loc.dtype, quadrature_size)
        points = normal_loc[..., None] + np.sqrt(2.0) * normal_scale[..., None] * points
        grid = SoftmaxCentered().forward(points[..., 0, :, None])
        return array.matrix_transpose(grid), probs


def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc, normal_scale, quadrature_size, validate_args=False, name=None
):
    """(grid, probabilities) of the softmax of a normal draw and 0, by its quantiles; of shape [batch..., 2, size]."""
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        normal_loc, normal_scale = _bimixture(normal_loc, normal_scale, validate_args)
        normal = Normal(loc=normal_loc, scale=normal_scale)
        ndims = normal.batch_shape.ndims
        ndims = array.shape(normal.batch_shape_tensor())[0] if ndims is None else ndims
        bijector = SoftmaxCentered()
        shape = normal.batch_shape[:-1].concatenate([2]) if normal.batch_shape.ndims is not None else TensorShape(None)
        quantiles = lambda edges: bijector.forward(normal.quantile(edges))  # noqa: E731
        return _between_quantiles(quantiles, normal, ndims, quadrature_size, shape)


def _bimixture(loc, scale, validate_args):
    """Both parameters, known (or checked when they run) to have one component: the softmax is between two."""
    loc = convert_to_tensor(loc, name="normal_loc")
    scale = _of_one(convert_to_tensor(scale, dtype=loc.dtype, name="normal_scale"), "normal_scale", validate_args)
    return _of_one(loc, "normal_loc", validate_args), scale


def _of_one(x, name, validate_args):
    with name_scope("maybe_check_quadrature_param", values=[x]):
        assertions = []
        if x.shape.ndims is not None:
            if x.shape.ndims == 0:
                raise ValueError(f"{name} must be a vector, or a batch of them: it is a scalar")
        elif validate_args:
            message = f"{name} is a scalar: mixing takes a vector, or a batch of them."
            assertions.append(check.assert_less_equal(1, array.rank(x), message=message))
        size = x.shape.with_rank_at_least(1).size(-1)
        if size is not None:
            if size != 1:
                raise NotImplementedError(f"There are only bimixtures: the last axis of {name} must be 1, not {size}")
        elif validate_args:
            message = f"only bimixtures are supported: the last dimension of {name} has to be 1."
            assertions.append(check.assert_equal(array.shape(x)[-1], 1, message=message))
        if not assertions:
            return x
        with control_dependencies(assertions):
            return array.identity(x)


class PoissonLogNormalQuadratureCompound(Distribution):
    """Poisson counts whose rate is itself log-normal, with `quadrature_size` rates in place of all.

    As in TensorFlow, what `quadrature_fn` gives is taken for logarithms of rates.
    """

    def __init__(
        self,
        loc,
        scale,
        quadrature_size=8,
        quadrature_fn=quadrature_scheme_lognormal_quantiles,
        validate_args=False,
        allow_nan_stats=True,
        name="PoissonLogNormalQuadratureCompound",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, dtype=self._loc.dtype.base_dtype, name="scale")
            self._quadrature_size = quadrature_size
            grid, probs = tuple(quadrature_fn(self._loc, self._scale, quadrature_size, validate_args))
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(f"quadrature_fn gave a grid of {grid.dtype.name}, probabilities of {probs.dtype.name}")
            options = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats}
            self._distribution = Poisson(log_rate=grid, **options)
            self._mixture_distribution = Categorical(logits=math.log(probs), **options)
        self._begin(parameters, grid.dtype, NOT_REPARAMETERIZED, [self._loc, self._scale], name)

    loc = property(lambda self: self._loc, doc="The mean of the logarithm of the rate.")
    scale = property(lambda self: self._scale, doc="The standard deviation of the logarithm of the rate.")
    quadrature_size = property(lambda self: self._quadrature_size, doc="How many rates stand for all.")
    distribution = property(lambda self: self._distribution, doc="The Poisson distributions of those rates.")
    mixture_distribution = property(lambda self: self._mixture_distribution, doc="What chooses among them.")

    def _batch_shape_tensor(self):
        return array.broadcast_dynamic_shape(array.shape(self.loc), array.shape(self.scale))

    def _batch_shape(self):
        return array.broadcast_static_shape(self.loc.shape, self.scale.shape)

    def _event_shape(self):
        return TensorShape([])

    def _event_shape_tensor(self):
        return constant([], dtype=dtypes.int32)

    def _sample_n(self, n, seed=None):
        # A rate for each draw and element of the batch: places in the flattened rates, a stretch for each element.
        known = self.batch_shape.is_fully_defined()
        batch_size = self.batch_shape.num_elements() if known else math.reduce_prod(self.batch_shape_tensor())
        per_draw = [batch_size] if _is_true(self.mixture_distribution.is_scalar_batch()) else np.int32([])
        own_seed = gen_new_seed(seed, "poisson_lognormal_quadrature_compound")
        ids = self.mixture_distribution.sample(sample_shape=_concat_vectors([n], per_draw), seed=own_seed)
        last = np.int32([]) if _is_true(self.is_scalar_batch()) else np.int32([-1])
        ids = array.reshape(ids, shape=_concat_vectors([n], last))
        ids += math.range(0, limit=batch_size * self.quadrature_size, delta=self.quadrature_size)
        rate = array.gather(array.reshape(self.distribution.rate, shape=[-1]), ids)
        rate = array.reshape(rate, shape=_concat_vectors([n], self.batch_shape_tensor()))
        return random.random_poisson(lam=rate, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        logits = self.mixture_distribution.logits
        return math.reduce_logsumexp(logits + self.distribution.log_prob(x[..., None]), axis=-1)

    def _mean(self):
        return math.exp(math.reduce_logsumexp(self.mixture_distribution.logits + self.distribution.log_rate, axis=-1))

    def _variance(self):
        return math.exp(self._log_variance())

    def _stddev(self):
        return math.exp(0.5 * self._log_variance())

    def _log_variance(self):
        # The mean of the Poisson variances, which are the rates, and the variance of their means.
        between = 2.0 * math.log(math.abs(self.distribution.mean() - self._mean()[..., None]))
        v = array.stack([self.distribution.log_rate, between], axis=-1)
        return math.reduce_logsumexp(self.mixture_distribution.logits[..., None] + v, axis=[-2, -1])


def _is_true(fact):
    known = constant_value(fact)
    if known is None:
        raise NotImplementedError("The rank of the batch has to be known while the graph is drawn")
    return bool(known)


def _concat_vectors(*vectors):
    """Vectors as one: a list where all of them are known."""
    tensors = [vector if isinstance(vector, Tensor) else constant(vector, dtype=dtypes.int32) for vector in vectors]
    known = [constant_value(vector) for vector in tensors]
    if any(value is None for value in known):
        return array.concat(tensors, 0)
    return [int(size) for value in known for size in value]
