"""Further distributions of whole numbers, and those of a certain value."""

from __future__ import annotations

import numpy as np

from everflow.distributions import checks
from everflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.event_shapes import Scalar
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_rank_at_least
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.nn import activations as nn
from everflow.ops.random import distributions as random


class Poisson(Scalar):
    """The Poisson distribution: counts of events that happen `rate` times on average."""

    _parameter_names = ("rate",)

    def __init__(self, rate=None, log_rate=None, validate_args=False, allow_nan_stats=True, name="Poisson"):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("A Poisson distribution takes either rate or log_rate: exactly one of them")
            if log_rate is None:
                rate = convert_to_tensor(rate, name="rate")
                if not rate.dtype.is_floating:
                    raise TypeError(f"rate must be of floats, not of {rate.dtype.name}")
                with control_dependencies([check.assert_positive(rate)] if validate_args else []):
                    self._rate = array.identity(rate, name="rate")
                    self._log_rate = math.log(rate, name="log_rate")
            else:
                log_rate = convert_to_tensor(log_rate, name="log_rate")
                self._rate = math.exp(log_rate, name="rate")
                self._log_rate = convert_to_tensor(log_rate, name="log_rate")
        self._begin(parameters, self._rate.dtype, NOT_REPARAMETERIZED, [self._rate], name)

    rate = property(lambda self: self._rate, doc="The mean.")
    log_rate = property(lambda self: self._log_rate, doc="The logarithm of the mean.")

    def _log_prob(self, x):
        x = self._checked(x)
        return x * self.log_rate - math.lgamma(1.0 + x) - self.rate

    def _log_cdf(self, x):
        return math.log(self.cdf(x))

    def _cdf(self, x):
        return math.igammac(1.0 + self._checked(x), self.rate)

    def _mean(self):
        return array.identity(self.rate)

    def _variance(self):
        return array.identity(self.rate)

    def _mode(self):
        return math.floor(self.rate)

    def _sample_n(self, n, seed=None):
        return random.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _checked(self, x):
        return checks.embed_check_nonnegative_integer_form(x) if self.validate_args else x


class Binomial(Scalar):
    """How many of `total_count` draws are 1."""

    _parameter_names = ("total_count", "probs")

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                counts = check.assert_non_negative(self._total_count, message="total_count must not be negative.")
                whole = checks.assert_integer_form(self._total_count, message="total_count must be a whole number.")
                self._total_count = with_dependencies([counts, whole], self._total_count)
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, False, validate_args, name)
        parents = [self._total_count, self._logits, self._probs]
        self._begin(parameters, self._probs.dtype, NOT_REPARAMETERIZED, parents, name)

    total_count = property(lambda self: self._total_count, doc="The number of draws.")
    logits = property(lambda self: self._logits, doc="The log-odds of 1.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")

    def _log_prob(self, counts):
        unnormalized = self._log_unnormalized(self._checked(counts))
        return unnormalized - self._log_normalization(self._checked(counts))

    def _log_unnormalized(self, counts):
        return counts * math.log(self.probs) + (self.total_count - counts) * math.log1p(-self.probs)

    def _log_normalization(self, counts):
        n = self.total_count
        return math.lgamma(1.0 + n - counts) + math.lgamma(1.0 + counts) - math.lgamma(1.0 + n)

    def _prob(self, counts):
        return math.exp(self._log_prob(counts))

    def _cdf(self, counts):
        counts, probs = self._checked(counts), self.probs
        if not (counts.shape.is_fully_defined() and probs.shape.is_fully_defined() and counts.shape == probs.shape):
            # The incomplete beta function takes arguments of one shape only.
            probs = probs + array.zeros_like(counts)
            counts = counts + array.zeros_like(self.probs)
        ones, all_of_them = array.ones_like(self.total_count - counts), math.equal(counts, self.total_count)
        left = where_v2(all_of_them, ones, self.total_count - counts)
        return where_v2(all_of_them, ones, math.betainc(a=left, b=counts + 1, x=1 - probs))

    def _mean(self):
        return self.total_count * self.probs

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return math.floor((1.0 + self.total_count) * self.probs)

    def _checked(self, counts):
        if not self.validate_args:
            return counts
        counts = checks.embed_check_nonnegative_integer_form(counts)
        message = "counts has more than total_count."
        return with_dependencies([check.assert_less_equal(counts, self.total_count, message=message)], counts)


class Geometric(Scalar):
    """How many draws of 0 come before the first 1."""

    _parameter_names = ("probs",)

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, False, validate_args, name)
            with control_dependencies([check.assert_positive(self._probs)] if validate_args else []):
                self._probs = array.identity(self._probs, name="probs")
        self._begin(parameters, self._probs.dtype, NOT_REPARAMETERIZED, [self._probs, self._logits], name)

    logits = property(lambda self: self._logits, doc="The log-odds of 1.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")

    def _sample_n(self, n, seed=None):
        shape, tiny = array.concat([[n], array.shape(self._probs)], 0), np.finfo(self.dtype.as_numpy_dtype).tiny
        sampled = random.random_uniform(shape, minval=tiny, maxval=1.0, seed=seed, dtype=self.dtype)
        return math.floor(math.log(sampled) / math.log1p(-self.probs))

    def _cdf(self, counts):
        counts = self._whole(counts)
        counts *= array.ones_like(self.probs)
        negative, zeros = counts < 0.0, array.zeros_like(counts)
        return array.where(negative, zeros, -math.expm1((1.0 + counts) * math.log1p(-self.probs)))

    def _log_prob(self, counts):
        counts = self._whole(counts)
        counts *= array.ones_like(self.probs)
        probs = self.probs * array.ones_like(counts)
        # No failure before the first success: 0 * log(0) would be NaN for a probability of 1.
        safe = array.where(math.equal(counts, 0.0), array.zeros_like(probs), probs)
        return counts * math.log1p(-safe) + math.log(probs)

    def _entropy(self):
        probs = self._probs
        if self.validate_args:
            message = "A Geometric has no entropy where probs is 1 (logits infinite)."
            probs = with_dependencies(
                [check.assert_less(probs, array.constant(1.0, probs.dtype), message=message)], probs
            )
        return nn.softplus(self._logits) / probs - self._logits

    def _mean(self):
        return math.exp(-self._logits)

    def _variance(self):
        return self._mean() / self._probs

    def _mode(self):
        return array.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _whole(self, counts):
        return checks.embed_check_nonnegative_integer_form(counts) if self.validate_args else math.floor(counts)


class NegativeBinomial(Scalar):
    """How many draws of 1 come before `total_count` of 0."""

    _parameter_names = ("total_count", "probs")

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="NegativeBinomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, False, validate_args, name)
            with control_dependencies([check.assert_positive(total_count)] if validate_args else []):
                self._total_count = array.identity(total_count)
        parents = [self._total_count, self._probs, self._logits]
        self._begin(parameters, self._probs.dtype, NOT_REPARAMETERIZED, parents, name)

    total_count = property(lambda self: self._total_count, doc="The number of draws of 0 to wait for.")
    logits = property(lambda self: self._logits, doc="The log-odds of 1.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")

    def _sample_n(self, n, seed=None):
        # A Poisson count whose rate comes from a gamma distribution.
        beta = math.exp(-self.logits)
        rate = random.random_gamma([n], alpha=self.total_count, beta=beta, dtype=self.dtype, seed=seed)
        return random.random_poisson(rate, shape=[], dtype=self.dtype, seed=checks.gen_new_seed(seed, "negative_binom"))

    def _cdf(self, x):
        x = self._whole(x)
        return math.betainc(self.total_count, 1.0 + x, math.sigmoid(-self._logits))

    def _log_prob(self, x):
        whole = self._whole(x)
        zeros = self.total_count * math.log_sigmoid(-self.logits)
        unnormalized = zeros + whole * math.log_sigmoid(self.logits)
        x = self._whole(x)
        n = self.total_count
        return unnormalized - (-math.lgamma(n + x) + math.lgamma(1.0 + x) + math.lgamma(n))

    def _mean(self):
        return self.total_count * math.exp(self.logits)

    def _variance(self):
        return self._mean() / math.sigmoid(-self.logits)

    def _mode(self):
        adjusted = where_v2(1.0 < self.total_count, self.total_count - 1.0, array.zeros_like(self.total_count))
        return math.floor(adjusted * math.exp(self.logits))

    def _whole(self, x):
        return checks.embed_check_nonnegative_integer_form(x) if self.validate_args else x


class _Certain(Distribution):
    def __init__(self, loc, atol, rtol, is_vector, parameters, name):
        with name_scope(name, values=[loc, atol, rtol]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            if is_vector and parameters["validate_args"]:
                message = "loc must be a vector, or a batch of them."
                if self._loc.shape.ndims is None:
                    self._loc = with_dependencies([assert_rank_at_least(self._loc, 1, message=message)], self._loc)
                elif self._loc.shape.ndims == 0:
                    raise ValueError(message)
            dtype = self._loc.dtype
            self._atol, self._rtol = (
                array.constant(0, dtype=dtype) if given is None else convert_to_tensor(given, dtype=dtype, name=kind)
                for kind, given in (("atol", atol), ("rtol", rtol))
            )
            # How far a value may be away and still count as this one.
            self._slack = self._atol if rtol is None else self._atol + self._rtol * math.abs(self._loc)
        self._is_vector = is_vector
        self._begin(parameters, self._loc.dtype, NOT_REPARAMETERIZED, [self._loc, self._slack], name)

    loc = property(lambda self: self._loc, doc="The value.")
    atol = property(lambda self: self._atol, doc="How far away a value may be.")
    rtol = property(lambda self: self._rtol, doc="How far away it may be, relative to the value.")

    def _batch_shape_tensor(self):
        return array.shape(self._loc)[:-1] if self._is_vector else array.shape(self._loc)

    def _batch_shape(self):
        return self._loc.shape[:-1] if self._is_vector else self._loc.shape

    def _event_shape_tensor(self):
        return array.shape(self._loc)[-1:] if self._is_vector else array.constant([], dtype=dtypes.int32)

    def _event_shape(self):
        return self._loc.shape[-1:] if self._is_vector else TensorShape([])

    def _entropy(self):
        return array.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self):
        return array.identity(self._loc)

    def _variance(self):
        return array.zeros_like(self._loc)

    def _mode(self):
        return self.mean()

    def _sample_n(self, n, seed=None):
        if not isinstance(n, Tensor):
            n = array.constant(n, dtype=dtypes.int32)
        known = constant_value(n)
        if self._loc.shape.ndims is None:
            times = array.concat([[n], array.ones([array.rank(self._loc)], dtype=dtypes.int32)], 0)
        else:
            times = [n if known is None else int(known)] + [1] * self._loc.shape.ndims
        return array.tile(self._loc[None, ...], times)


class Deterministic(_Certain):
    """A number that is certain."""

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"):
        super().__init__(loc, atol, rtol, False, dict(locals()), name)

    def _prob(self, x):
        return math.cast(math.abs(x - self._loc) <= self._slack, dtype=self.dtype)

    def _cdf(self, x):
        return math.cast(x >= self._loc - self._slack, dtype=self.dtype)


class VectorDeterministic(_Certain):
    """A vector that is certain."""

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="VectorDeterministic"
    ):
        super().__init__(loc, atol, rtol, True, dict(locals()), name)

    def _prob(self, x):
        if self.validate_args:
            message = "Values have to be vectors as long as the certain one."
            at_least_vector, event_shape = assert_rank_at_least(x, 1), self.event_shape_tensor()
            size = array.gather(array.shape(x), array.rank(x) - 1)
            as_long = check.assert_equal(event_shape, size, message=message)
            with control_dependencies([at_least_vector, as_long]):
                x = array.identity(x)
        return math.cast(math.reduce_all(math.abs(x - self._loc) <= self._slack, axis=-1), dtype=self.dtype)
