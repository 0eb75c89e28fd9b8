"""What all distributions share: shapes, sampling, and every statistic in terms of the few that a kind defines.

A kind overrides underscored methods (`_sample_n`, `_log_prob`, `_mean`, ...). The public ones open the name scopes, and
derive what a kind leaves out from what it has: `prob` from `_log_prob`, `stddev` from `_variance`, and so on.
"""

from __future__ import annotations

import contextlib

import numpy as np

from everflow.distributions import kullback_leibler
from everflow.distributions.checks import fill, pick_vector
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.control_flow.grouping import with_dependencies


class ReparameterizationType:
    """Whether gradients flow through samples into the parameters.

    Args:
        rep_type: Its name.

    Example:
        >>> tf.distributions.Normal(0.0, 1.0).reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED
        True
    """

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def _lacking(method):
    """Stands for what a kind leaves out."""

    def missing(self, *args, **kwargs):
        raise NotImplementedError(f"{method} is not implemented: {type(self).__name__}")

    return missing


def _named(method, doc, function):
    function.__name__, function.__qualname__, function.__doc__ = method, f"Distribution.{method}", doc
    return function


def _public(method, doc):
    """The public method of a value: what `_call_method` makes of it."""
    return _named(method, doc, lambda self, value, name=method: getattr(self, f"_call_{method}")(value, name))


def _statistic(method, doc):
    """The public method of a statistic: a kind's `_method`, in its scope."""

    def call(self, name=method):
        with self._name_scope(name):
            return getattr(self, f"_{method}")()

    return _named(method, doc, call)


def _of_value(method, derived=None):
    """What a kind's `_method` makes of a value, in the public one's scopes; or else what is derived from the rest."""

    def call(self, value, name, **kwargs):
        direct = getattr(self, f"_{method}")
        with self._value_scope(name, value) as value:
            if derived is None:
                return direct(value, **kwargs)
            return _first(lambda: direct(value, **kwargs), lambda: derived(self, value, **kwargs))

    return call


class Distribution:
    """A batch of probability distributions, all of one kind. A sample has shape `sample_shape + batch_shape + event_shape`:
    draws, of so many distributions, of values.

    Args:
        dtype: The type of the samples.
        reparameterization_type: Whether gradients flow through samples into the parameters.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        parameters: What it was made with, by name.
        graph_parents: Tensors it is made of.
        name: What the operations' names start with.

    Example:
        >>> d = tf.distributions.Normal([0.0, 10.0], 1.0)
        >>> sess.run(d.sample([3])).shape, d.batch_shape.as_list()
        ((3, 2), [2])
    """

    def __init__(
        self,
        dtype,
        reparameterization_type,
        validate_args,
        allow_nan_stats,
        parameters=None,
        graph_parents=None,
        name=None,
    ):
        graph_parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(graph_parents):
            if parent is None or not isinstance(parent, Tensor) and not hasattr(parent, "_as_graph_element"):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = parameters or {}
        self._graph_parents = graph_parents
        self._name = name

    def _begin(self, parameters, dtype, reparameterization_type, parents, name, allow_nan_stats=None):
        """The base's constructor, called with what a kind's was given by name."""
        if allow_nan_stats is None:
            allow_nan_stats = parameters["allow_nan_stats"]
        settings = dtype, reparameterization_type, parameters["validate_args"], allow_nan_stats
        Distribution.__init__(self, *settings, parameters, parents, name)

    name = property(lambda self: self._name, doc="The name scope that holds its nodes.")
    dtype = property(lambda self: self._dtype, doc="The type of samples.")

    @property
    def _parameters(self):
        return self._given

    @_parameters.setter
    def _parameters(self, parameters):
        # Kinds hand on `locals()`, the distribution itself among them.
        self._given = {key: value for key, value in parameters.items() if key != "self"}

    @property
    def parameters(self):
        """What the constructor was given, by argument name."""
        return {k: v for k, v in self._parameters.items() if not k.startswith("__")}

    reparameterization_type = property(
        lambda self: self._reparameterization_type,
        doc="FULLY_REPARAMETERIZED where gradients flow through samples, else NOT_REPARAMETERIZED.",
    )
    allow_nan_stats = property(
        lambda self: self._allow_nan_stats, doc="Whether an undefined statistic is NaN; otherwise it is an error."
    )
    validate_args = property(lambda self: self._validate_args, doc="Whether the graph checks parameters and values.")

    def copy(self, **override_parameters_kwargs):
        """The same distribution made again, with some arguments of the constructor replaced."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """The shapes that the parameters must have so that one draw has the given shape, as tensors by argument name."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """The shapes of `param_shapes`, known without running: as TensorShapes by argument name."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        static = {}
        for argument, shape in cls.param_shapes(sample_shape).items():
            known = constant_value(shape)
            if known is None:
                raise ValueError(f"The shape of {argument} is known only if sample_shape is, not {sample_shape!r}")
            static[argument] = TensorShape(known)
        return static

    @staticmethod
    def _param_shapes(sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    # Shapes.

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape of the batch of distributions, as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(), dtype=dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    @property
    def batch_shape(self):
        """What is known of the shape of the batch of distributions."""
        return TensorShape(self._batch_shape())

    def event_shape_tensor(self, name="event_shape_tensor"):
        """The shape of one draw from one distribution of the batch, as a tensor."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(self.event_shape.as_list(), dtype=dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    @property
    def event_shape(self):
        """What is known of the shape of one draw from one distribution of the batch."""
        return TensorShape(self._event_shape())

    def is_scalar_event(self, name="is_scalar_event"):
        """Whether a draw is a single number, as a bool tensor."""
        with self._name_scope(name):
            return convert_to_tensor(_is_scalar(self.event_shape, self.event_shape_tensor), name="is_scalar_event")

    def is_scalar_batch(self, name="is_scalar_batch"):
        """Whether this is one distribution rather than a batch, as a bool tensor."""
        with self._name_scope(name):
            return convert_to_tensor(_is_scalar(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch")

    def _batch_shape(self):
        return TensorShape(None)

    def _event_shape(self):
        return TensorShape(None)

    _batch_shape_tensor = _lacking("batch_shape_tensor")
    _event_shape_tensor = _lacking("event_shape_tensor")

    # Sampling.

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Draw values, of shape `sample_shape + batch_shape + event_shape`."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape, seed, name, **kwargs):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sample_shape, n = as_vector(sample_shape, "sample_shape")
            samples = self._sample_n(n, seed, **kwargs)
            batch_event_shape = array.shape(samples)[1:]
            samples = array.reshape(samples, array.concat([sample_shape, batch_event_shape], 0))
            return self._set_sample_static_shape(samples, sample_shape)

    def _set_sample_static_shape(self, x, sample_shape):
        """Draws, with what is known of their shape: that of the draws asked for, of the batch and of an event."""
        sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        known = constant_value(sample_shape)
        if known is None and sample_shape.shape.ndims == 1 and sample_shape.shape.size(0) is not None:
            known = [None] * sample_shape.shape.size(0)
        drawn = TensorShape(known)
        x.set_shape(drawn.concatenate(self.batch_shape).concatenate(self.event_shape))
        return x

    def _expand_sample_shape_to_vector(self, x, name):
        """A sample shape as a vector, and the number of draws it stands for."""
        return as_vector(x, name)

    def _is_scalar_helper(self, static_shape, dynamic_shape_fn):
        """Whether a shape has no sizes: as a bool where it is known, else as a tensor."""
        return _is_scalar(static_shape, dynamic_shape_fn)

    _sample_n = _lacking("sample_n")

    def _drawn_shape(self, n):
        """The shape of n draws of single numbers, as a tensor."""
        return array.concat([[n], self.batch_shape_tensor()], 0)

    # Densities and probabilities of values.

    log_prob = _public("log_prob", "The logarithm of the density, or of the probability, of a value.")
    prob = _public("prob", "The density, or the probability, of a value.")
    log_cdf = _public("log_cdf", "The logarithm of the probability of a draw of at most `value`.")
    cdf = _public("cdf", "The probability of a draw of at most `value`.")
    log_survival_function = _public("log_survival_function", "The logarithm of the probability of draws above `value`.")
    survival_function = _public("survival_function", "The probability of a draw above `value`.")
    quantile = _public("quantile", "The value that a draw stays below with the given probability.")

    _call_log_prob = _of_value("log_prob", lambda self, value, **given: math.log(self._prob(value, **given)))
    _call_prob = _of_value("prob", lambda self, value, **given: math.exp(self._log_prob(value, **given)))
    _call_log_cdf = _of_value("log_cdf", lambda self, value, **given: math.log(self._cdf(value, **given)))
    _call_cdf = _of_value("cdf", lambda self, value, **given: math.exp(self._log_cdf(value, **given)))
    _call_log_survival_function = _of_value(
        "log_survival_function", lambda self, value, **given: math.log1p(-self.cdf(value, **given))
    )
    _call_survival_function = _of_value(
        "survival_function", lambda self, value, **given: 1.0 - self.cdf(value, **given)
    )
    _call_quantile = _of_value("quantile")

    _log_prob = _lacking("log_prob")
    _prob = _lacking("prob")
    _log_cdf = _lacking("log_cdf")
    _cdf = _lacking("cdf")
    _log_survival_function = _lacking("log_survival_function")
    _survival_function = _lacking("survival_function")
    _quantile = _lacking("quantile")

    # Statistics.

    entropy = _statistic("entropy", "Shannon's entropy, in nats.")
    mean = _statistic("mean", "The mean of draws.")

    def variance(self, name="variance"):
        """The mean squared deviation of draws from their mean."""
        with self._name_scope(name):
            return _first(self._variance, lambda: math.square(self._stddev()))

    def stddev(self, name="stddev"):
        """The square root of the variance."""
        with self._name_scope(name):
            return _first(self._stddev, lambda: math.sqrt(self._variance()))

    covariance = _statistic("covariance", "The covariance matrix of the components of a draw.")
    mode = _statistic("mode", "The likeliest value.")

    def cross_entropy(self, other, name="cross_entropy"):
        """The cross entropy of another distribution to this one: this one's entropy and the divergence between them."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other, name="kl_divergence"):
        """The Kullback-Leibler divergence of this distribution from another."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    _entropy = _lacking("entropy")
    _mean = _lacking("mean")
    _variance = _lacking("variance")
    _stddev = _lacking("stddev")
    _covariance = _lacking("covariance")
    _mode = _lacking("mode")

    def _cross_entropy(self, other):
        return kullback_leibler.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other):
        return kullback_leibler.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def _where_defined(self, value, defined, checks, shape=None):
        """A statistic, NaN where it isn't `defined()`; or an error by `checks()`, without `allow_nan_stats`."""
        if not self.allow_nan_stats:
            return with_dependencies(checks(), value)
        # In the order of TensorFlow's graphs: NaNs first.
        nan = fill(self.batch_shape_tensor() if shape is None else shape, np.nan, self.dtype, "nan")
        return where_v2(defined(), value, nan)

    def __str__(self):
        both = (("batch", self.batch_shape), ("event", self.event_shape))
        shapes = [f"{kind}_shape={shape}, " for kind, shape in both if shape.ndims is not None]
        return f'tfp.distributions.{type(self).__name__}("{self.name}", {"".join(shapes)}dtype={self.dtype.name})'

    def __repr__(self):
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={self.dtype.name}>"
        )

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with name_scope(self.name), name_scope(name, values=(values or []) + self._graph_parents) as scope:
            yield scope

    @contextlib.contextmanager
    def _value_scope(self, name, value):
        with self._name_scope(name, values=[value]):
            yield convert_to_tensor(value, name="value", preferred_dtype=self.dtype)


def _first(direct, derived):
    """What a kind defines, or else what follows from the rest of it; if neither is there, the first complaint."""
    try:
        return direct()
    except NotImplementedError as missing:
        try:
            return derived()
        except NotImplementedError:
            raise missing from None


def _is_scalar(static_shape, dynamic_shape):
    if static_shape.ndims is not None:
        return static_shape.ndims == 0
    shape = dynamic_shape()
    if shape.shape.ndims is not None and shape.shape.size(0) is not None:
        return shape.shape.as_list() == [0]
    return math.equal(array.shape(shape)[0], 0)


def as_vector(x, name):
    """A sample shape as a vector, and the number of draws it stands for."""
    static = constant_value(x)
    count = math.reduce_prod(x) if static is None else np.prod(static, dtype=x.dtype.as_numpy_dtype())
    ndims = x.shape.ndims
    if ndims is None:
        one = np.array([1], dtype=x.dtype.as_numpy_dtype())
        expanded = pick_vector(math.equal(array.rank(x), 0), one, array.shape(x))
        x = array.reshape(x, expanded)
    elif ndims == 0:
        vector = None if static is None else np.array([static], dtype=x.dtype.as_numpy_dtype())
        x = array.reshape(x, [1]) if static is None else convert_to_tensor(vector, name=name)
    elif ndims != 1:
        raise ValueError("Input is neither scalar nor vector.")
    return x, count
