"""Mixtures of Gaussians, fitted by expectation maximization: graphs over batches of points."""

from __future__ import annotations

import collections

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import colocate_with, control_dependencies, device
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.diagonals import diag, diag_part, matrix_diag_part
from everflow.ops.checks.values import assert_less_equal
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group, no_op, with_dependencies
from everflow.ops.linalg.decompositions import cholesky, matrix_triangular_solve
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.random.distributions import random_uniform
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import Variable

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
# Added to covariances, so that no Gaussian becomes infinitely narrow.
_LEAST_SPREAD = 1e-3
_TINY = np.finfo(float).eps

# What a batch of points says: the logarithm of how likely each is, its shares in the classes, and sums over the points.
_Batch = collections.namedtuple("_Batch", ["prior", "shares", "counts", "sums", "squares"])


def _covariance(x, diagonal):
    """The covariance of all points, or the variances of their coordinates."""
    count = math.cast(array.shape(x)[0], dtypes.float32)
    x = x - math.reduce_mean(x, 0, keepdims=True)
    if diagonal:
        return math.reduce_sum(math.square(x), 0, keepdims=True) / (count - 1)
    return math.matmul(x, x, transpose_a=True) / (count - 1.0)


def _some_points(inputs, count, seed):
    """Points drawn from the first batch."""
    points = inputs[0]
    number = array.shape(points)[0]
    with control_dependencies([assert_less_equal(count, number)]):
        highest = math.cast(number, dtypes.int64)
        drawn = random_uniform([count], minval=0, maxval=highest, seed=seed, dtype=dtypes.int64)
    return embedding_lookup(inputs, drawn % math.cast(number, dtypes.int64), partition_strategy="div")


class GmmAlgorithm:
    """The ops of a mixture: its variables, how likely it makes points, and a step of expectation maximization."""

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self, data, num_classes, initial_means=None, params="wmc", covariance_type=FULL_COVARIANCE, random_seed=0
    ):
        self._params = params
        self._random_seed = random_seed
        self._covariance_type = covariance_type
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(
                f"covariance_type is {DIAG_COVARIANCE!r} or {FULL_COVARIANCE!r}, and not {covariance_type!r}"
            )
        self._num_classes = num_classes
        self._dimensions = array.shape(data[0])[1]
        self._least = diag(array.ones(array.stack([self._dimensions]))) * _LEAST_SPREAD
        self._create_variables()
        self._initialize_variables(data, initial_means)
        self._define_graph(data)

    def _create_variables(self):
        empty = constant([], dtype=dtypes.float32)
        self._means = Variable(empty, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = Variable(empty, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        self._alpha = Variable(
            array.tile([1.0 / self._num_classes], [self._num_classes]),
            name=self.CLUSTERS_WEIGHT,
            validate_shape=False,
        )
        self._cluster_centers_initialized = Variable(False, dtype=dtypes.bool, name="initialized")

    def _initialize_variables(self, data, initial_means=None):
        first = data[0]
        if initial_means is not None:
            means = array.expand_dims(initial_means, 1)
        else:
            means = array.expand_dims(_some_points(data, self._num_classes, self._random_seed), 1)
        diagonal = self._covariance_type == DIAG_COVARIANCE
        cov = _covariance(first, diagonal) + self._least
        if diagonal:
            cov = diag_part(cov)
        covs = array.tile(array.expand_dims(cov, 0), [self._num_classes, 1] + ([] if diagonal else [1]))
        with colocate_with(self._cluster_centers_initialized):
            initialized = with_dependencies([means, covs], array.identity(self._cluster_centers_initialized))
        self._init_ops = []
        for variable, value in ((self._means, means), (self._covs, covs)):
            made = state.assign(variable, value, validate_shape=False)
            with colocate_with(variable):
                done = with_dependencies([made], state.assign(self._cluster_centers_initialized, True))
                self._init_ops.append(cond(initialized, no_op, lambda done=done: done).op)

    def init_ops(self):
        """An op that gives the variables their first values, once."""
        return group(*self._init_ops)

    def training_ops(self):
        """The ops of a step."""
        return self._train_ops

    def is_initialized(self):
        return self._cluster_centers_initialized

    def alphas(self):
        """The shares of the classes."""
        return self._alpha

    def clusters(self):
        """The means."""
        return self._means

    def covariances(self):
        return self._covs

    def assignments(self):
        """The class of each point, a list for each batch."""
        return [[math.argmax(w, 1)] for w in self._w]

    def scores(self):
        """How likely the mixture makes each point."""
        return self._scores

    def log_likelihood_op(self):
        return self._log_likelihood_op

    def _define_graph(self, data):
        """Each step of the algorithm over all batches: what each adds to sums, then the new variables."""
        batches = [self._expectation(points) for points in data]
        self._w, self._prior_probs = [b.shares for b in batches], [b.prior for b in batches]
        self._train_ops = self._maximization(batches)
        self._log_likelihood_op = self._log_likelihood()
        self._scores = self._score_samples()

    def _expectation(self, points):
        """What a batch of points says of the classes."""
        count = array.shape(points)[0]
        points = array.expand_dims(points, 0)
        density = self._full_density if self._covariance_type == FULL_COVARIANCE else self._diagonal_density
        log_probs = density(points) + math.log(self._alpha)
        prior = math.reduce_logsumexp(log_probs, axis=1, keepdims=True)
        shares = math.exp(array.expand_dims(log_probs, 0) - prior)
        shares = array.reshape(shares, array.stack([count, self._num_classes]))
        return _Batch(prior, shares, *self._weighted_sums(points, shares))

    def _full_density(self, points):
        """The logarithm of how dense each Gaussian is at points."""
        apart = points - self._means
        factor = cholesky(self._covs + self._least)
        log_det = 2.0 * math.reduce_sum(math.log(matrix_diag_part(factor)), 1)
        across = array.transpose(apart, perm=[0, 2, 1])
        solved = math.square(matrix_triangular_solve(factor, across))
        distance = array.transpose(math.reduce_sum(solved, 1), perm=[1, 0])
        width = math.cast(self._dimensions, dtypes.float32)
        return -0.5 * (distance + width * math.log(2 * np.pi) + log_det)

    def _diagonal_density(self, points):
        """`_full_density`, where coordinates are independent."""
        log_det = math.reduce_sum(math.log(self._covs + _LEAST_SPREAD), 1, keepdims=True)
        apart = math.squared_difference(points, self._means)
        precision = array.expand_dims(math.truediv(1.0, self._covs + _LEAST_SPREAD), 2)
        distance = array.squeeze(math.matmul(apart, precision), [2])
        columns = array.transpose(distance)
        width = math.cast(self._dimensions, dtypes.float32)
        return -0.5 * (width * math.log(2.0 * np.pi) + array.transpose(log_det) + columns)

    def _weighted_sums(self, points, shares):
        """Of each class the number of points, their sum and the sum of their squares, by the shares it has in them."""
        counts = math.reduce_sum(shares, 0, keepdims=True)
        sums = array.expand_dims(math.matmul(shares, array.squeeze(points, [0]), transpose_a=True), 1)
        copies = array.concat([points] * self._num_classes, 0)
        across = array.transpose(copies, perm=[0, 2, 1])
        weighted = [array.expand_dims(across[k, :, :] * shares[:, k], 0) for k in range(self._num_classes)]
        return counts, sums, math.matmul(array.concat(weighted, 0), copies)

    def _maximization(self, batches):
        """Ops that give the variables the values under which the points are likeliest."""
        train_ops, many = [], len(batches) > 1

        def total(part):
            parts = [getattr(batch, part) for batch in batches]
            return math.add_n(parts) if many else parts[0]

        with control_dependencies(self._w):
            points = array.squeeze(total("counts"), [0])
            shares = points / float(len(batches))
            new_alpha = self._alpha.assign(shares / (math.reduce_sum(shares) + _TINY))
            if "w" in self._params:
                train_ops.append(new_alpha)
            points = array.reshape(points, [self._num_classes, 1, 1])
            # Means are learnt as part of covariances: without "c" in params they stay, as in TensorFlow.
            means = self._means.assign(math.div(total("sums"), points + _TINY))
            with control_dependencies([means]):
                new_covs = self._new_covariances(total("squares") / (points + _TINY))
                if "c" in self._params:
                    train_ops.append(state.assign(self._covs, new_covs, validate_shape=False))
        return train_ops

    def _new_covariances(self, squares):
        new = []
        for k in range(self._num_classes):
            mean = self._means[k, :, :]
            square = math.matmul(mean, mean, transpose_a=True)
            cov = squares[k, :, :] - square + self._least
            if self._covariance_type == DIAG_COVARIANCE:
                cov = diag_part(cov)
            new.append(array.expand_dims(cov, 0))
        return array.concat(new, 0)

    def _log_likelihood(self):
        parts = [math.reduce_logsumexp(prior) for prior in self._prior_probs]
        return math.reduce_logsumexp(convert_to_tensor(parts))

    def _score_samples(self):
        parts = [prior + math.log(w) for prior, w in zip(self._prior_probs, self._w)]
        return array.squeeze(math.reduce_logsumexp(convert_to_tensor(parts), axis=2, keepdims=True), axis=0)


def gmm(inp, initial_clusters, num_clusters, random_seed, covariance_type=FULL_COVARIANCE, params="wmc"):
    """(log likelihood, scores of points, their classes, training op, op that begins, whether it has begun) of a mixture.

    `initial_clusters` are means, or "random" for points of the input; `params` says what is learnt: weights, means and
    covariances.
    """
    means = None
    if not isinstance(initial_clusters, str):
        means = constant(initial_clusters, dtype=dtypes.float32)
    points = inp if isinstance(inp, list) else [inp]
    mixture = GmmAlgorithm(points, num_clusters, means, params, covariance_type, random_seed)
    likelihood, scores = mixture.log_likelihood_op(), mixture.scores()
    assignments, steps = mixture.assignments(), mixture.training_ops()
    with device(None):
        train_op = group(*steps)
    return likelihood, scores, assignments, train_op, mixture.init_ops(), mixture.is_initialized()
