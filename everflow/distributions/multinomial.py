"""Counts of classes in a number of draws: Multinomial, and DirichletMultinomial whose probabilities are drawn first."""

from __future__ import annotations

from everflow.distributions import checks
from everflow.distributions.beta import Concentrations, positive
from everflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.event_shapes import Vector
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.control_flow.maps import map_fn
from everflow.ops.nn import activations as nn
from everflow.ops.random import distributions as random


def draw_counts(logits, num_draws, n, k, dtype, seed):
    """n samples of the counts of k classes, for each row of logits with its own number of draws.

    Rows may want different numbers of draws, which one op can't do, so a loop goes over them.
    """
    # Broadcast the total counts against the logits, in both directions.
    num_draws = array.ones_like(logits[..., 0], dtype=num_draws.dtype) * num_draws
    logits = array.ones_like(num_draws[..., None], dtype=logits.dtype) * logits
    flat_logits = array.reshape(logits, [-1, k])
    flat_draws = n * array.reshape(num_draws, [-1])

    def counts_of_row(row):
        logits, num_draws = row[0], row[1]
        drawn = random.multinomial(logits[None, ...], num_draws, seed=seed)
        drawn = array.reshape(drawn, shape=[n, -1])
        return math.reduce_sum(array.one_hot(drawn, depth=k), axis=-2)

    counts = map_fn(counts_of_row, [flat_logits, flat_draws], dtype=dtype)
    return array.transpose(counts, perm=[1, 0, 2])


class _Counts(Distribution):
    _wrong_total = "counts last-dimension must sum to `self.total_count`"

    def _checked_counts(self, counts):
        """The counts themselves, once they are known to be whole numbers that sum to the total."""
        if not self.validate_args:
            return counts
        counts = checks.embed_check_nonnegative_integer_form(counts)
        right = check.assert_equal(self.total_count, math.reduce_sum(counts, -1), message=self._wrong_total)
        return with_dependencies([right], counts)

    total_count = property(lambda self: self._total_count, doc="The number of draws.")


class Multinomial(_Counts, Vector):
    """How often each class comes among `total_count` independent draws.

    Args:
        total_count: How many trials there are.
        logits: The scores whose sigmoid or softmax are the probabilities; give these or `probs`.
        probs: The probabilities; give these or `logits`.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.Multinomial(total_count=4.0, probs=[0.2, 0.3, 0.5]).mean())
        array([0.8, 1.2, 2. ], dtype=float32)
    """

    _wrong_total = "counts must sum to `self.total_count`"
    _shaped_like = "_mean_val"

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Multinomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = checks.embed_check_nonnegative_integer_form(self._total_count)
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, True, validate_args, name)
            self._mean_val = self._total_count[..., None] * self._probs
        parents = [self._total_count, self._logits, self._probs]
        self._begin(parameters, self._probs.dtype, NOT_REPARAMETERIZED, parents, name)

    logits = property(lambda self: self._logits, doc="The logits of the classes.")
    probs = property(lambda self: self._probs, doc="The probabilities of the classes.")

    def _sample_n(self, n, seed=None):
        n_draws = math.cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        counts = draw_counts(self.logits, n_draws, n, k, self.dtype, seed)
        return array.reshape(counts, array.concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts):
        return self._log_unnormalized_prob(counts) - self._log_normalization(counts)

    def _log_unnormalized_prob(self, counts):
        counts = self._checked_counts(counts)
        return math.reduce_sum(counts * nn.log_softmax(self.logits), -1)

    def _log_normalization(self, counts):
        counts = self._checked_counts(counts)
        return -checks.log_combinations(self.total_count, counts)

    def _mean(self):
        return array.identity(self._mean_val)

    def _covariance(self):
        p = self.probs * array.ones_like(self.total_count)[..., None]
        return array.matrix_set_diag(-math.matmul(self._mean_val[..., None], p[..., None, :]), self._variance())

    def _variance(self):
        p = self.probs * array.ones_like(self.total_count)[..., None]
        return self._mean_val - self._mean_val * p


class DirichletMultinomial(_Counts, Concentrations):
    """How often each class comes among `total_count` draws, with probabilities from a Dirichlet distribution.

    Args:
        total_count: How many trials there are.
        concentration: The concentrations, positive.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.DirichletMultinomial(4.0, [1.0, 2.0, 1.0]).mean())
        array([1., 2., 1.], dtype=float32)
    """

    def __init__(
        self, total_count, concentration, validate_args=False, allow_nan_stats=True, name="DirichletMultinomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            # Whole numbers are expected, in the type of the concentration, so that both can be in one formula.
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = checks.embed_check_nonnegative_integer_form(self._total_count)
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                self._concentration = positive(checks.embed_check_categorical_event_shape(self._concentration))
            self._total_concentration = math.reduce_sum(self._concentration, -1)
        parents = [self._total_count, self._concentration]
        self._begin(parameters, self._concentration.dtype, NOT_REPARAMETERIZED, parents, name)

    def _sample_n(self, n, seed=None):
        n_draws = math.cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        gamma = random.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        unnormalized_logits = array.reshape(math.log(gamma), shape=[-1, k])
        own_seed = checks.gen_new_seed(seed, salt="dirichlet_multinomial")
        draws = random.multinomial(logits=unnormalized_logits, num_samples=n_draws, seed=own_seed)
        counts = math.reduce_sum(array.one_hot(draws, depth=k), -2)
        return math.cast(array.reshape(counts, array.concat([[n], self.batch_shape_tensor(), [k]], 0)), self.dtype)

    def _log_prob(self, counts):
        counts = self._checked_counts(counts)
        ordered = math.lbeta(self.concentration + counts) - math.lbeta(self.concentration)
        return ordered + checks.log_combinations(self.total_count, counts)

    def _mean(self):
        return self.total_count * (self.concentration / self.total_concentration[..., None])

    def _variance(self):
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale_term(self):
        # Smaller than Multinomial's by the factor that the uncertainty of the probabilities brings.
        c0 = self.total_concentration[..., None]
        return math.sqrt((1.0 + c0 / self.total_count) / (1.0 + c0))
