"""Classes as vectors: one-hot ones, and their relaxations, through which gradients flow."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.bijectors.elementwise import Exp, Sigmoid
from everflow.contrib.distributions.scalars import Logistic
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions import checks
from everflow.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from everflow.distributions.event_shapes import Vector
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.nn import activations as nn
from everflow.ops.nn.losses import softmax_cross_entropy_with_logits
from everflow.ops.random import distributions as random
from everflow.platform.signatures import options_of, takes


class _Classes(Vector):
    """What distributions over the classes of a last axis share."""

    def _set_sizes(self):
        static = self._logits.shape.with_rank_at_least(1)
        if static.ndims is not None:
            self._batch_rank = convert_to_tensor(static.ndims - 1, dtype=dtypes.int32, name="batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = array.rank(self._logits) - 1
        with name_scope("event_size"):
            self._event_size = array.shape(self._logits)[-1]

    event_size = property(lambda self: self._event_size, doc="How many classes there are.")
    logits = property(lambda self: self._logits, doc="The logits of the classes.")
    probs = property(lambda self: self._probs, doc="The probabilities of the classes.")

    def _paired(self, x):
        """x and the logits, broadcast against each other."""
        if x.shape.is_fully_defined() and self.logits.shape.is_fully_defined() and x.shape == self.logits.shape:
            return x, self.logits
        logits = array.ones_like(x, dtype=self.logits.dtype) * self.logits
        return array.ones_like(logits, dtype=x.dtype) * x, logits


class OneHotCategorical(_Classes):
    """One of several classes, as a vector with a 1 in its place."""

    def __init__(
        self,
        logits=None,
        probs=None,
        dtype=dtypes.int32,
        validate_args=False,
        allow_nan_stats=True,
        name="OneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, True, validate_args, name)
            self._set_sizes()
        self._begin(parameters, dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, [self._logits, self._probs], name)

    def _sample_n(self, n, seed=None):
        sample_shape = array.concat([[n], array.shape(self.logits)], 0)
        logits = self.logits if self.logits.shape.ndims == 2 else array.reshape(self.logits, [-1, self.event_size])
        samples = random.multinomial(logits, n, seed=seed)
        samples = array.transpose(samples)
        samples = array.one_hot(samples, self.event_size, dtype=self.dtype)
        return array.reshape(samples, sample_shape)

    def _log_prob(self, x):
        x = self._checked(x)
        x, logits = self._paired(x)
        shape = array.shape(math.reduce_sum(logits, -1))
        logits_2d = array.reshape(logits, [-1, self.event_size])
        x_2d = array.reshape(x, [-1, self.event_size])
        return array.reshape(-softmax_cross_entropy_with_logits(labels=x_2d, logits=logits_2d), shape)

    def _entropy(self):
        return -math.reduce_sum(nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        return array.one_hot(math.argmax(self.logits, axis=self._batch_rank), self.event_size, dtype=self.dtype)

    def _covariance(self):
        p = self.probs
        return array.matrix_set_diag(-math.matmul(p[..., None], p[..., None, :]), self._variance())

    def _variance(self):
        return self.probs * (1.0 - self.probs)

    def _checked(self, x):
        if not self.validate_args:
            return x
        with control_dependencies(
            [
                check.assert_non_positive(x),
                check.assert_near(array.zeros([], dtype=self.dtype), math.reduce_logsumexp(x, axis=[-1])),
            ]
        ):
            return array.identity(x)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        return math.reduce_sum(nn.softmax(a.logits) * (nn.log_softmax(a.logits) - nn.log_softmax(b.logits)), axis=-1)


class ExpRelaxedOneHotCategorical(_Classes):
    """The logarithms of RelaxedOneHotCategorical's draws."""

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="ExpRelaxedOneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, True, validate_args, name)
            dtype = self._logits.dtype if dtype is None else dtypes.as_dtype(dtype)
            # With checks it is taken as it is given, of the type that it has.
            temperature = temperature if validate_args else math.cast(temperature, dtype)
            with control_dependencies([check.assert_positive(temperature)] if validate_args else []):
                self._temperature = array.identity(temperature, name="temperature")
                self._temperature_2d = array.reshape(temperature, [-1, 1], name="temperature_2d")
            self._set_sizes()
        self._begin(parameters, dtype, FULLY_REPARAMETERIZED, [self._logits, self._probs, self._temperature], name)

    temperature = property(lambda self: self._temperature, doc="How far from one-hot: near 0, draws nearly are.")

    def _sample_n(self, n, seed=None):
        sample_shape = array.concat([[n], array.shape(self.logits)], 0)
        logits = self.logits * array.ones(sample_shape, dtype=self.dtype)
        logits_2d = array.reshape(logits, [-1, self.event_size])
        # From (0, 1): the smallest positive number stands in for zero, whose logarithm is infinite.
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        shape = array.shape(logits_2d)
        uniform = random.random_uniform(shape, minval=tiny, maxval=1, dtype=self.dtype, seed=seed)
        gumbel = -math.log(-math.log(uniform))
        noisy_logits = math.div(gumbel + logits_2d, self._temperature_2d)
        return array.reshape(nn.log_softmax(noisy_logits), sample_shape)

    def _log_prob(self, x):
        if self.validate_args:
            negative, zero = check.assert_non_positive(x), array.zeros([], self.dtype)
            x = with_dependencies([negative, check.assert_near(zero, math.reduce_logsumexp(x, axis=[-1]))], x)
        x, logits = self._paired(x)
        shape = array.shape(math.reduce_sum(logits, axis=[-1]))
        logits_2d = array.reshape(logits, [-1, self.event_size])
        x_2d = array.reshape(x, [-1, self.event_size])
        k = math.cast(self.event_size, x.dtype)
        log_normalization = math.lgamma(k) + (k - 1.0) * math.log(self.temperature)
        log_softmax = nn.log_softmax(logits_2d - x_2d * self._temperature_2d)
        log_unnormalized = math.reduce_sum(log_softmax, axis=[-1], keepdims=False)
        return array.reshape(log_normalization + log_unnormalized, shape)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Probability vectors near the corners, through which gradients flow: the Gumbel-softmax distribution."""

    @takes(options_of(ExpRelaxedOneHotCategorical.__init__, name="RelaxedOneHotCategorical"))
    def __init__(self, temperature, **given):
        parameters, name = {"temperature": temperature, **given}, given.pop("name")
        base = ExpRelaxedOneHotCategorical(temperature, **given)
        super().__init__(base, bijector=Exp(), name=name)
        self._parameters = parameters

    temperature = property(lambda self: self._distribution.temperature, doc="How far from one-hot.")
    event_size = property(lambda self: self._distribution.event_size, doc="How many classes there are.")
    probs = property(lambda self: self._distribution.probs, doc="The probabilities of the classes.")
    logits = property(lambda self: self._distribution.logits, doc="The logits of the classes.")


class RelaxedBernoulli(TransformedDistribution):
    """Numbers near 0 or 1, through which gradients flow."""

    def __init__(
        self, temperature, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="RelaxedBernoulli"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[temperature, logits, probs]) as name:
            with control_dependencies([check.assert_positive(temperature)] if validate_args else []):
                self._temperature = array.identity(temperature, name="temperature")
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, validate_args=validate_args)
            given = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats, "name": name + "/Logistic"}
            base = Logistic(self._logits / self._temperature, 1.0 / self._temperature, **given)
        super().__init__(distribution=base, bijector=Sigmoid(validate_args=validate_args), name=name)
        self._parameters = parameters

    temperature = property(lambda self: self._temperature, doc="How far from 0 and 1.")
    logits = property(lambda self: self._logits, doc="The log-odds of 1.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")
