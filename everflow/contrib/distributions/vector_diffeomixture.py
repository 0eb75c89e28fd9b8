"""`VectorDiffeomixture`: vectors through an affine map that is itself drawn, somewhere between two given ones."""

from __future__ import annotations

import functools

import numpy as np

from everflow.contrib.distributions.bijectors.affine import AffineLinearOperator
from everflow.contrib.distributions.quadrature import (
    _concat_vectors,
    _is_true,
    quadrature_scheme_softmaxnormal_quantiles,
)
from everflow.distributions.checks import gen_new_seed
from everflow.distributions.discrete import Categorical
from everflow.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.linalg import operators
from everflow.ops.linalg.operators.addition import add_operators

_FACTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def _weighted(weight, operator):
    """A LinearOperator times a batch of weights, of a kind that can be added to others."""
    facts = {name: getattr(operator, name) for name in _FACTS}
    with name_scope("linop_scale", values=[weight]):
        if isinstance(operator, (operators.LinearOperatorIdentity, operators.LinearOperatorScaledIdentity)):
            factor = getattr(operator, "multiplier", None)
            multiplier = weight if factor is None else weight * factor
            rows = operator.range_dimension_tensor()
            return operators.LinearOperatorScaledIdentity(num_rows=rows, multiplier=multiplier, **facts)
        if isinstance(operator, operators.LinearOperatorDiag):
            return operators.LinearOperatorDiag(diag=weight[..., None] * operator.diag, **facts)
        if isinstance(operator, operators.LinearOperatorLowerTriangular):
            tril = weight[..., None, None] * operator.to_dense()
            return operators.LinearOperatorLowerTriangular(tril=tril, **facts)
        raise NotImplementedError(f"A scale is an identity, a diagonal or triangular, not {type(operator).__name__}")


def _scales_between(grid, scales):
    """For each point of the grid, the mean of the scales that it stands for."""
    with name_scope("interpolate_scale", values=[grid]):
        found = []
        for point in range(grid.shape.size(-1)):
            parts = [_weighted(grid[..., k, point], scale) for k, scale in enumerate(scales)]
            (total,) = add_operators(parts)
            found.append(total)
        return found


def _locs_between(grid, locs):
    """For each point of the grid, the mean of the locations; None where there are none."""
    size = grid.shape.size(-1)
    if all(loc is None for loc in locs):
        return [None] * size
    with name_scope("interpolate_loc", values=[grid, *locs]):
        weights = grid[..., None, :, :]
        first, second = (None if loc is None else loc[..., None] for loc in locs)
        if first is None or second is None:
            which, given = (1, second) if first is None else (0, first)
            between = weights[..., which, :] * given
        else:
            between = weights[..., 0, :] * (first - second) + second
        return [between[..., point] for point in range(size)]


class VectorDiffeomixture(Distribution):
    """Vectors `loc(w) + scale(w) @ z`: z has independent components, w is drawn for each vector by a softmax of a normal
    and mixes two locations and two scales. `quadrature_size` values of w stand for all.

    Args:
        mix_loc: The mean of the normal draw, [..., 1], before it is divided by the temperature.
        temperature: How soft the choice is, [..., 1].
        distribution: The distribution of a component of z: scalar, in event and batch.
        loc: Two vectors; None is zero.
        scale: Two LinearOperators: identities, diagonals or triangular.
        quadrature_size: How many values stand for all.
        quadrature_fn: The function that chooses them, and their probabilities.
        validate_args: Whether values are checked when they run.
        allow_nan_stats: Whether statistics that are not defined are NaN.
        name: The name scope of its operations.

    Raises:
        NotImplementedError: If there are not two of each, or a scale is of another kind.
        ValueError: If `distribution` is not scalar, or a parameter is missing.
        TypeError: If types don't agree.

    Example:
        >>> tfd = tf.contrib.distributions
        >>> eye = tf.linalg.LinearOperatorIdentity(num_rows=2)
        >>> loc = [np.float32([-1.0, 0.0]), np.float32([1.0, 0.0])]
        >>> mixed = tfd.VectorDiffeomixture([[0.0]], [1.0], tfd.Normal(0.0, 1.0), loc, [eye, eye])
        >>> sess.run(mixed.prob([0.0, 0.0])).shape
        (1,)
    """

    def __init__(
        self,
        mix_loc,
        temperature,
        distribution,
        loc=None,
        scale=None,
        quadrature_size=8,
        quadrature_fn=quadrature_scheme_softmaxnormal_quantiles,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorDiffeomixture",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            scales, dtype = _checked_scales(loc, scale)
            locs = [
                None if x is None else convert_to_tensor(x, dtype=dtype, name=f"loc{k}")
                for k, x in enumerate(loc or [None] * len(scales))
            ]
            self._endpoint_affine = _affine_maps(locs, scales, validate_args, "endpoint_affine")
            mix_loc = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = convert_to_tensor(temperature, dtype=dtype, name="temperature")
            self._grid, probs = tuple(
                quadrature_fn(mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args)
            )
            options = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats}
            self._mixture_distribution = Categorical(logits=math.log(probs), **options)
            self._distribution = _checked_scalar(distribution)
            between = _locs_between(self._grid, locs), _scales_between(self._grid, scales)
            self._interpolated_affine = _affine_maps(*between, validate_args, "interpolated_affine")
            self._batch, self._event = _shapes(self._grid, self._endpoint_affine)
        parents = [
            mix_loc,
            temperature,
            *(x for x in locs if x is not None),
            *(p for s in scales for p in s.graph_parents),
        ]
        self._begin(parameters, dtype, FULLY_REPARAMETERIZED, parents, name)

    mixture_distribution = property(lambda self: self._mixture_distribution, doc="What chooses among points.")
    distribution = property(lambda self: self._distribution, doc="The distribution of a component of z.")
    grid = property(lambda self: self._grid, doc="The weights that stand for all: [batch..., 2, quadrature_size].")
    endpoint_affine = property(lambda self: self._endpoint_affine, doc="The two affine maps.")
    interpolated_affine = property(lambda self: self._interpolated_affine, doc="The affine map of each point.")

    def _batch_shape_tensor(self):
        return self._batch[1]

    def _batch_shape(self):
        return self._batch[0]

    def _event_shape_tensor(self):
        return self._event[1]

    def _event_shape(self):
        return self._event[0]

    def _sample_n(self, n, seed=None):
        shape = _concat_vectors([n], self.batch_shape_tensor(), self.event_shape_tensor())
        x = self.distribution.sample(sample_shape=shape, seed=seed)
        first, second = (affine.forward(x) for affine in self.endpoint_affine)
        # A weight for each draw and element of the batch: places in the flattened grid.
        known = self.batch_shape.is_fully_defined()
        batch_size = self.batch_shape.num_elements() if known else math.reduce_prod(self.batch_shape_tensor())
        mixture = self.mixture_distribution
        per_draw = [batch_size] if _is_true(mixture.is_scalar_batch()) else np.int32([])
        own_seed = gen_new_seed(seed, "vector_diffeomixture")
        ids = mixture.sample(sample_shape=_concat_vectors([n], per_draw), seed=own_seed)
        last = np.int32([]) if _is_true(self.is_scalar_batch()) else np.int32([-1])
        ids = array.reshape(ids, shape=_concat_vectors([n], last))
        stride = self.grid.shape.with_rank_at_least(2)[-2:].num_elements()
        offset = math.range(0, limit=batch_size * stride, delta=stride, dtype=ids.dtype)
        weight = array.gather(array.reshape(self.grid, shape=[-1]), ids + offset)
        weight = array.reshape(weight, shape=_concat_vectors([n], self.batch_shape_tensor(), [1]))
        return weight * (first - second) + second

    def _log_prob(self, x):
        events = [affine.inverse(x) for affine in self.interpolated_affine]
        log_probs = math.reduce_sum(self.distribution.log_prob(array.stack(events, axis=-1)), axis=-2)
        volumes = [
            affine.forward_log_det_jacobian(event, event_ndims=1)
            for affine, event in zip(self.interpolated_affine, events, strict=True)
        ]
        # One of a scale without a batch has no axis to be stacked along others.
        volume = array.stack([v + array.zeros_like(log_probs[..., 0]) for v in volumes], axis=-1)
        return math.reduce_logsumexp(self.mixture_distribution.logits - volume + log_probs, axis=-1)

    def _weights(self, axes):
        """The probabilities of points as one tensor for each, with so many axes more."""
        probs = self.mixture_distribution.probs
        return [probs[..., point][(..., *([None] * axes))] for point in range(len(self.interpolated_affine))]

    def _means(self):
        """The mean at each point."""
        shape = _concat_vectors(self.batch_shape_tensor(), self.event_shape_tensor())
        mean = array.fill(shape, self.distribution.mean())
        return [affine.forward(mean) for affine in self.interpolated_affine]

    def _mean(self):
        return _total(w * mean for w, mean in zip(self._weights(1), self._means(), strict=True))

    def _covariance(self):
        between = self._moment_of_means(lambda mean: mean[..., None] * mean[..., None, :])
        diagonal = all(_is_diagonal(affine.scale) for affine in self.interpolated_affine)
        if diagonal:
            return array.matrix_diag(self._within_diagonal()) + between
        squares = (
            affine.scale.matmul(affine.scale.to_dense(), adjoint_arg=True) for affine in self.interpolated_affine
        )
        within = _total(w * square for w, square in zip(self._weights(2), squares, strict=True))
        return self.distribution.variance() * within + between

    def _variance(self):
        between = self._moment_of_means(lambda mean: mean**2)
        if all(_is_diagonal(affine.scale) for affine in self.interpolated_affine):
            return self._within_diagonal() + between
        return array.matrix_diag_part(self._covariance())

    def _within_diagonal(self):
        squares = (math.square(affine.scale.diag_part()) for affine in self.interpolated_affine)
        within = _total(w * square for w, square in zip(self._weights(1), squares, strict=True))
        return self.distribution.variance() * within

    def _moment_of_means(self, product):
        """How much the means of points differ: the mean of `product` of them, less that of their mean."""
        means, mean = self._means(), self._mean()
        axes = product(mean).shape.rank - self.batch_shape.rank
        return _total(w * product(at - mean) for w, at in zip(self._weights(axes), means, strict=True))


def _total(parts):
    return functools.reduce(lambda a, b: a + b, parts)


def _is_diagonal(scale):
    kinds = ("LinearOperatorIdentity", "LinearOperatorScaledIdentity", "LinearOperatorDiag")
    return isinstance(scale, tuple(getattr(operators, kind) for kind in kinds))


def _checked_scales(loc, scale):
    """(the two scales, their type)."""
    if not scale:
        raise ValueError("scale must be a list of two LinearOperators: it is missing")
    if loc is not None and len(loc) != len(scale):
        raise ValueError(f"There must be a location for each scale, or none: {len(loc)} and {len(scale)} are given")
    if len(scale) != 2:
        raise NotImplementedError(f"There are only bimixtures: scale must have two elements, not {len(scale)}")
    kinds = {operator.dtype.base_dtype for operator in scale}
    if len(kinds) > 1:
        raise TypeError(f"Both scales must be of one type, not of {sorted(kind.name for kind in kinds)}")
    return list(scale), kinds.pop()


def _checked_scalar(distribution):
    for what, fact in (("event", distribution.is_scalar_event()), ("batch", distribution.is_scalar_batch())):
        if constant_value(fact) is False or constant_value(fact) == np.False_:
            raise ValueError(f"The distribution of a component must be a scalar in its {what}: {distribution}")
    return distribution


def _affine_maps(locs, scales, validate_args, name):
    return [
        AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args, name=f"{name}_{k}")
        for k, (loc, scale) in enumerate(zip(locs, scales, strict=True))
    ]


def _shapes(grid, maps):
    """((batch shape, as a tensor), (event shape, as a tensor)) of a grid and the maps at its ends."""
    with name_scope("determine_batch_event_shapes", values=[grid]):
        static, dynamic = grid.shape[:-2], array.shape(grid)[:-2]
        for affine in maps:
            parts = [] if affine.shift is None else [(affine.shift.shape[:-1], array.shape(affine.shift)[:-1])]
            parts.append((affine.scale.batch_shape, affine.scale.batch_shape_tensor()))
            if affine.shift is not None:
                array.broadcast_static_shape(affine.shift.shape[-1:], TensorShape([affine.scale.range_dimension]))
            for shape, tensor in parts:
                static = array.broadcast_static_shape(static, shape)
                dynamic = array.broadcast_dynamic_shape(dynamic, tensor)
        sizes = {affine.scale.range_dimension.value for affine in maps} - {None}
        if len(sizes) > 1:
            raise ValueError(f"Both scales must be as large as each other, not of {sorted(sizes)} rows")
        event = maps[0].scale.range_dimension_tensor()[None]
        return (static, dynamic), (TensorShape([sizes.pop() if sizes else None]), event)
