"""Distributions of a choice: Bernoulli between two, Categorical among many."""

from __future__ import annotations

from everflow.distributions import checks
from everflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.event_shapes import Scalar
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.nn import activations as nn
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from everflow.ops.random import distributions as random


class Bernoulli(Scalar):
    """1 with the given probability, else 0; the probability is given as such or by its logit.

    Args:
        logits: The scores whose sigmoid or softmax are the probabilities; give these or `probs`.
        probs: The probabilities; give these or `logits`.
        dtype: The type of the samples.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> d = tf.distributions.Bernoulli(probs=0.25)
        >>> sess.run([d.prob(1), d.mean()])
        [np.float32(0.25), np.float32(0.25)]
    """

    _parameter_names = ("logits",)

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="Bernoulli"
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, False, validate_args, name)
        self._begin(parameters, dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, [self._logits, self._probs], name)

    logits = property(lambda self: self._logits, doc="The log-odds of 1.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")

    def _sample_n(self, n, seed=None):
        uniform = random.random_uniform(self._drawn_shape(n), seed=seed, dtype=self.probs.dtype)
        return math.cast(math.less(uniform, self.probs), self.dtype)

    def _log_prob(self, event):
        if self.validate_args:
            event = checks.embed_check_integer_casting_closed(event, target_dtype=dtypes.bool)
        event = math.cast(event, self.logits.dtype)
        logits = self.logits
        # The loss wants both of one shape; where that isn't known already, ones broadcast them against each other.
        if not (event.shape.is_fully_defined() and logits.shape.is_fully_defined() and event.shape == logits.shape):
            event, logits = _broadcast_both(logits, event)
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self):
        return -self.logits * (math.sigmoid(self.logits) - 1) + nn.softplus(-self.logits)

    def _mean(self):
        return array.identity(self.probs)

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return math.cast(self.probs > 0.5, self.dtype)


def _broadcast_both(logits, event):
    broadcast_logits = array.ones_like(event) * logits
    return array.ones_like(logits) * event, broadcast_logits


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a, b, name=None):
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        delta_probs0 = nn.softplus(-b.logits) - nn.softplus(-a.logits)
        delta_probs1 = nn.softplus(b.logits) - nn.softplus(a.logits)
        return math.sigmoid(a.logits) * delta_probs0 + math.sigmoid(-a.logits) * delta_probs1


def broadcast_cat_event_and_params(event, params, base_dtype=dtypes.int32):
    """Classes, and parameters with one more axis for the classes, broadcast against each other."""
    if event.dtype.is_integer:
        pass
    elif event.dtype.is_floating:
        event = math.cast(event, dtype=dtypes.int32)
    else:
        raise TypeError(f"A class is a whole number: values must be integers or {base_dtype}, not {event.dtype.name}")
    known = params.shape.ndims is not None and params.shape[:-1].is_fully_defined()
    shape_known_statically = known and event.shape.is_fully_defined()
    if not shape_known_statically or params.shape[:-1] != event.shape:
        params *= array.ones_like(event[..., None], dtype=params.dtype)
        params_shape = array.shape(params)[:-1]
        event *= array.ones(params_shape, dtype=event.dtype)
        if params.shape.ndims is not None:
            event.set_shape(TensorShape(params.shape[:-1]))
    return event, params


class Categorical(Distribution):
    """One of several classes, numbered from 0, by the probabilities (or their logits) along the last axis.

    Args:
        logits: The scores whose sigmoid or softmax are the probabilities; give these or `probs`.
        probs: The probabilities; give these or `logits`.
        dtype: The type of the samples.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> d = tf.distributions.Categorical(probs=[0.1, 0.2, 0.7])
        >>> sess.run([d.prob(2), d.mode()])
        [np.float32(0.7), np.int32(2)]
    """

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="Categorical"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = checks.get_logits_and_probs(logits, probs, True, validate_args, name)
            if validate_args:
                self._logits = checks.embed_check_categorical_event_shape(self._logits)
            static = self._logits.shape.with_rank_at_least(1)
            if static.ndims is not None:
                self._batch_rank = convert_to_tensor(static.ndims - 1, dtype=dtypes.int32, name="batch_rank")
            else:
                with name_scope("batch_rank"):
                    self._batch_rank = array.rank(self._logits) - 1
            shape = array.shape(self._logits, name="logits_shape")
            if static.ndims is not None and static.size(-1) is not None:
                self._event_size = convert_to_tensor(static.size(-1), dtype=dtypes.int32, name="event_size")
            else:
                with name_scope("event_size"):
                    self._event_size = shape[self._batch_rank]
            if static[:-1].is_fully_defined():
                self._batch_shape_val = constant(static[:-1].as_list(), dtype=dtypes.int32, name="batch_shape")
            else:
                with name_scope("batch_shape"):
                    self._batch_shape_val = shape[:-1]
        self._begin(parameters, dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, [self._logits, self._probs], name)

    event_size = property(lambda self: self._event_size, doc="How many classes there are, as a tensor.")
    logits = property(lambda self: self._logits, doc="The logits of the classes.")
    probs = property(lambda self: self._probs, doc="The probabilities of the classes.")

    def _batch_shape_tensor(self):
        return array.identity(self._batch_shape_val)

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _event_shape_tensor(self):
        return constant([], dtype=dtypes.int32)

    def _event_shape(self):
        return TensorShape([])

    def _sample_n(self, n, seed=None):
        logits = self.logits if self.logits.shape.ndims == 2 else array.reshape(self.logits, [-1, self.event_size])
        sample_dtype = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        draws = random.multinomial(logits, n, seed=seed, output_dtype=sample_dtype)
        draws = array.reshape(array.transpose(draws), self._drawn_shape(n))
        return math.cast(draws, self.dtype)

    def _cdf(self, k):
        k = convert_to_tensor(k, name="k")
        if self.validate_args:
            k = checks.embed_check_integer_casting_closed(k, target_dtype=dtypes.int32)
        k, probs = broadcast_cat_event_and_params(k, self.probs, base_dtype=self.dtype.base_dtype)
        # The sum of the probabilities of the classes below k.
        rows = array.reshape(probs, [-1, self._event_size])
        below = array.sequence_mask(array.reshape(k, [-1]), self._event_size)
        return array.reshape(math.reduce_sum(array.where(below, rows, array.zeros_like(rows)), axis=-1), array.shape(k))

    def _log_prob(self, k):
        k = convert_to_tensor(k, name="k")
        if self.validate_args:
            k = checks.embed_check_integer_casting_closed(k, target_dtype=dtypes.int32)
        k, logits = broadcast_cat_event_and_params(k, self.logits, base_dtype=self.dtype.base_dtype)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self):
        return -math.reduce_sum(nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        return math.cast(math.argmax(self.logits, axis=self._batch_rank), self.dtype)


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        delta_log_probs1 = nn.log_softmax(a.logits) - nn.log_softmax(b.logits)
        return math.reduce_sum(nn.softmax(a.logits) * delta_log_probs1, axis=-1)
