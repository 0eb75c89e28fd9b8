"""Distributions made of several: mixtures, and batches taken for one event."""

from __future__ import annotations

import numpy as np

from everflow.distributions.checks import gen_new_seed
from everflow.distributions.discrete import Categorical
from everflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.event_shapes import Inner
from everflow.distributions.kullback_leibler import RegisterKL, kl_divergence
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.nn import activations as nn


class Mixture(Distribution):
    """A draw from one of several distributions, chosen by a Categorical.

    >>> Mixture(Categorical(probs=[0.3, 0.7]), [Normal(1.0, 2.0), Normal(-3.0, 1.0)])
    """

    def __init__(
        self, cat, components, validate_args=False, allow_nan_stats=True, use_static_graph=False, name="Mixture"
    ):
        parameters = dict(locals())
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat chooses among the components: it must be a Categorical, not {cat!r}")
        if not components:
            raise ValueError("A mixture needs components")
        if not isinstance(components, (list, tuple)) or not all(isinstance(c, Distribution) for c in components):
            raise TypeError(f"components must be a list or tuple of Distributions, not {components!r}")
        dtype = components[0].dtype
        if not all(component.dtype == dtype for component in components):
            raise TypeError(
                f"components must be of one dtype, but are {', '.join(f'{c.name}: {c.dtype.name}' for c in components)}"
            )
        event_shape, batch_shape = components[0].event_shape, cat.batch_shape
        for component in components:
            event_shape = event_shape.merge_with(component.event_shape)
            batch_shape = batch_shape.merge_with(component.batch_shape)
        if event_shape.ndims is None:
            raise ValueError("The rank of events must be known of one component at least")
        classes = constant_value(cat.event_size)
        if classes is None:
            raise ValueError(
                f"The number of classes of {cat.name} must be known, and one for each of {len(components)} components"
            )
        if int(classes) != len(components):
            raise ValueError(f"cat.num_classes != len(components): {classes} vs {len(components)}")
        with name_scope(name, values=[cat.logits]) as name:
            cat_batch_shape = cat.batch_shape_tensor()
            array.size(cat_batch_shape)
        self._cat, self._components = cat, list(components)
        self._static_event_shape, self._static_batch_shape = event_shape, batch_shape
        self._use_static_graph = use_static_graph
        parents = list(cat._graph_parents) + [parent for component in components for parent in component._graph_parents]
        self._begin(parameters, dtype, NOT_REPARAMETERIZED, parents, name)

    cat = property(lambda self: self._cat, doc="What chooses.")
    components = property(lambda self: self._components, doc="What is chosen from.")
    num_components = property(lambda self: len(self._components), doc="How many there are.")

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _batch_shape(self):
        return self._static_batch_shape

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _event_shape(self):
        return self._static_event_shape

    def _expanded(self, x):
        """Probabilities with axes for the events behind them."""
        for _ in range(self._static_event_shape.ndims):
            x = array.expand_dims(x, -1)
        return x

    def _weights(self):
        return array.unstack(nn.softmax(self.cat.logits), num=self.num_components, axis=-1)

    def _mean(self):
        means = [component.mean() for component in self.components]
        weights = [self._expanded(weight) for weight in self._weights()]
        return math.add_n([weight * mean for weight, mean in zip(weights, means, strict=True)])

    def _stddev(self):
        means = [component.mean() for component in self.components]
        deviations = [component.stddev() for component in self.components]
        weights = self._weights()
        means, deviations = array.stack(means, axis=-1), array.stack(deviations, axis=-1)
        weights = array.stack([self._expanded(weight) for weight in weights], axis=-1)
        weights = weights * array.ones_like(means)
        # All entries of the batch in a row: products of a row with columns.
        rows = [array.reshape(part, [-1, self.num_components]) for part in (weights, means, deviations)]
        weights = array.expand_dims(rows[0], axis=1)
        columns, spread = (array.expand_dims(row, axis=2) for row in rows[1:])

        def averaged(part):
            return array.reshape(math.matmul(weights, part), [-1])

        mean = averaged(columns)
        variance = averaged(math.square(spread)) + averaged(math.square(columns)) - math.square(mean)
        return array.reshape(math.sqrt(variance), array.shape(means)[:-1])

    def _log_weights(self):
        return array.unstack(nn.log_softmax(self.cat.logits), num=self.num_components, axis=-1)

    def _log_sum(self, values):
        weighted = [w + value for w, value in zip(self._log_weights(), values, strict=True)]
        return math.reduce_logsumexp(array.stack(weighted, axis=0), axis=[0])

    def _log_prob(self, x):
        x = convert_to_tensor(x, name="x")
        return self._log_sum([component.log_prob(x) for component in self.components])

    def _log_cdf(self, x):
        x = convert_to_tensor(x, name="x")
        return self._log_sum([component.log_cdf(x) for component in self.components])

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        """The mean of the components' entropies: the mixture has at least that."""
        with self._name_scope(name):
            entropies = [component.entropy() for component in self.components]
            return math.add_n([w * entropy for w, entropy in zip(self._weights(), entropies, strict=True)])

    def _sample_n(self, n, seed=None):
        if self._use_static_graph:
            return self._sample_all(n, seed)
        n = convert_to_tensor(n, name="n")
        known = constant_value(n)
        n = n if known is None else int(known)
        chosen = self.cat.sample(n, seed=seed)
        if chosen.shape.is_fully_defined():
            shape, total = chosen.shape.as_list(), chosen.shape.num_elements()
        else:
            shape, total = array.shape(chosen), array.size(chosen)
        static = self.batch_shape
        batch_size = static.num_elements() if static.is_fully_defined() else math.reduce_prod(self.batch_shape_tensor())
        known = self.event_shape.is_fully_defined()
        event_shape = np.array(self.event_shape.as_list(), np.int32) if known else self.event_shape_tensor()
        count = self.num_components
        numbers = array.reshape(math.range(0, total), shape)
        places = array.dynamic_partition(data=numbers, partitions=chosen, num_partitions=count)
        in_batch = array.reshape(array.tile(math.range(0, batch_size), [n]), shape)
        in_batch = array.dynamic_partition(data=in_batch, partitions=chosen, num_partitions=count)
        drawn = []
        for component, place, batch_index in zip(self.components, places, in_batch, strict=True):
            times = array.size(place)
            seed = gen_new_seed(seed, "mixture")
            samples = component.sample(times, seed=seed)
            # A draw for each element of the batch was made; the ones that were chosen are taken out.
            rows = batch_size * math.range(0, times) + batch_index
            samples = array.reshape(samples, array.concat([[times * batch_size], event_shape], 0))
            drawn.append(array.gather(samples, rows, name="samples_class_c_gather"))
        joined = array.dynamic_stitch(indices=places, data=drawn)
        return array.reshape(joined, array.concat([shape, self.event_shape_tensor()], 0))

    def _sample_all(self, n, seed):
        """Draw from every component and take the chosen ones: more work, but shapes are known."""
        samples = []
        cat_samples = self.cat.sample(n, seed=seed)
        for component in self.components:
            seed = gen_new_seed(seed, "mixture")
            samples.append(component.sample(n, seed=seed))
        stacked = array.stack(samples, axis=-self._static_event_shape.ndims - 1)
        dtype = self.dtype.as_numpy_dtype
        values = {"on_value": np.ones([], dtype), "off_value": np.zeros([], dtype)}
        mask = array.one_hot(cat_samples, depth=self.num_components, **values)
        mask = _padded(mask, self.batch_shape.ndims, self.cat, self._static_event_shape.ndims)
        return math.reduce_sum(stacked * mask, axis=-1 - self._static_event_shape.ndims)


def _padded(weights, batch_ndims, chooser, event_ndims):
    """Weights of what `chooser` chooses, with axes for the batch in front of them, and for events behind."""
    with name_scope("pad_mix_dims", values=[weights]):
        missing = where_v2(chooser.is_scalar_batch(), batch_ndims, batch_ndims - chooser.batch_shape.ndims)
        shape = array.shape(weights)
        first, ones = shape[:-1], array.ones([missing], dtype=dtypes.int32)
        parts = [first, ones, shape[-1:], array.ones([event_ndims], dtype=dtypes.int32)]
        return array.reshape(weights, array.concat(parts, 0))


class MixtureSameFamily(Inner):
    """A mixture whose components are the last axis of one distribution's batch."""

    _shaped_like = "components_distribution"

    def __init__(
        self,
        mixture_distribution,
        components_distribution,
        validate_args=False,
        allow_nan_stats=True,
        name="MixtureSameFamily",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture_distribution, self._components_distribution = mixture_distribution, components_distribution
            self._event_ndims = components_distribution.event_shape.ndims
            if self._event_ndims is None:
                raise NotImplementedError("The rank of events has to be known while the graph is drawn")
            if not mixture_distribution.dtype.is_integer:
                raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype}) is not over integers")
            if mixture_distribution.batch_shape.ndims not in (None, 0):
                wanted = components_distribution.batch_shape[:-1]
                if (
                    wanted.is_fully_defined()
                    and mixture_distribution.batch_shape.is_fully_defined()
                    and mixture_distribution.batch_shape != wanted
                ):
                    found = mixture_distribution.batch_shape
                    raise ValueError(f"mixture_distribution must have a batch of shape {wanted}, not {found}")
            km = mixture_distribution.logits.shape.size(-1)
            kc = components_distribution.batch_shape.size(-1)
            if km is not None and kc is not None and km != kc:
                raise ValueError(f"mixture_distribution chooses among {km} components, but their batch has {kc}")
            self._num_components = km or kc
            components_distribution.event_shape_tensor()  # TensorFlow's graphs have it here
        parents = list(mixture_distribution._graph_parents) + list(components_distribution._graph_parents)
        self._begin(parameters, components_distribution.dtype, NOT_REPARAMETERIZED, parents, name)

    mixture_distribution = property(lambda self: self._mixture_distribution, doc="What chooses.")
    components_distribution = property(lambda self: self._components_distribution, doc="What is chosen from.")

    def _batch_shape_tensor(self):
        return super()._batch_shape_tensor()[:-1]

    def _batch_shape(self):
        return super()._batch_shape().with_rank_at_least(1)[:-1]

    def _sample_n(self, n, seed=None):
        # As in TensorFlow, both draws go by the graph's seed alone.
        x = self.components_distribution.sample(n)
        dtype = self.dtype.as_numpy_dtype
        values = {"on_value": np.ones([], dtype), "off_value": np.zeros([], dtype)}
        mask = array.one_hot(self.mixture_distribution.sample(n), depth=self._num_components, **values)
        return math.reduce_sum(x * self._padded(mask), axis=-1 - self._event_ndims)

    def _log_prob(self, x):
        log_prob = self.components_distribution.log_prob(self._with_axis(x))
        return math.reduce_logsumexp(log_prob + nn.log_softmax(self.mixture_distribution.logits, axis=-1), axis=-1)

    def _mean(self):
        probs = self._padded(self.mixture_distribution.probs)
        return math.reduce_sum(probs * self.components_distribution.mean(), axis=-1 - self._event_ndims)

    def _log_cdf(self, x):
        log_cdf = self.components_distribution.log_cdf(self._with_axis(x))
        return math.reduce_logsumexp(log_cdf + nn.log_softmax(self.mixture_distribution.logits, axis=-1), axis=-1)

    def _variance(self):
        probs = self._padded(self.mixture_distribution.probs)
        axis = -1 - self._event_ndims
        within = math.reduce_sum(probs * self.components_distribution.variance(), axis=axis)
        difference = math.squared_difference(self.components_distribution.mean(), self._with_axis(self._mean()))
        return within + math.reduce_sum(probs * difference, axis=axis)

    def _covariance(self):
        if self._event_ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        probs = self._padded(self._padded(self.mixture_distribution.probs))
        within = math.reduce_sum(probs * self.components_distribution.covariance(), axis=-3)
        difference = self.components_distribution.mean() - self._with_axis(self._mean())
        return within + math.reduce_sum(probs * (difference[..., None, :] * difference[..., None]), axis=-3)

    def _padded(self, weights):
        return _padded(weights, self.batch_shape.ndims, self.mixture_distribution, self._event_ndims)

    def _with_axis(self, x):
        """A value with an axis for the components in front of its event."""
        with name_scope("pad_sample_dims", values=[x]):
            ndims = x.shape.ndims if x.shape.ndims is not None else array.rank(x)
            shape = array.shape(x)
            place = ndims - self._event_ndims
            return array.reshape(x, array.concat([shape[:place], [1], shape[place:]], 0))


class Independent(Distribution):
    """A batch of distributions taken for one, whose events are draws of all of them."""

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                reinterpreted_batch_ndims = max(0, distribution.batch_shape.ndims - 1)
            known = constant_value(convert_to_tensor(reinterpreted_batch_ndims, name="reinterpreted_batch_ndims"))
            if known is None:
                raise NotImplementedError("reinterpreted_batch_ndims has to be known while the graph is drawn")
            self._ndims = int(known)
            if distribution.batch_shape.ndims is not None and self._ndims > distribution.batch_shape.ndims:
                has = f"{distribution.name} has a batch of shape {distribution.batch_shape}"
                raise ValueError(f"reinterpreted_batch_ndims={self._ndims} is too large: {has}")
        parents = distribution._graph_parents
        kind = distribution.reparameterization_type
        self._begin(parameters, distribution.dtype, kind, parents, name, distribution.allow_nan_stats)

    distribution = property(lambda self: self._distribution, doc="The batch of distributions.")
    reinterpreted_batch_ndims = property(lambda self: self._ndims, doc="How many axes of the batch belong to events.")

    def _batch_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        return shape[: -self._ndims] if self._ndims else shape

    def _batch_shape(self):
        shape = self.distribution.batch_shape
        return TensorShape(None) if shape.ndims is None else shape[: shape.ndims - self._ndims]

    def _event_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        last = shape[-self._ndims :] if self._ndims else shape[:0]
        return array.concat([last, self.distribution.event_shape_tensor()], 0)

    def _event_shape(self):
        shape = self.distribution.batch_shape
        if shape.ndims is None:
            return TensorShape(None)
        return shape[shape.ndims - self._ndims :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n, seed=None):
        return self.distribution.sample(sample_shape=n, seed=seed)

    def _log_prob(self, x):
        return self._added(self.distribution.log_prob(x))

    def _entropy(self):
        return self._added(self.distribution.entropy())

    def _mean(self):
        return self.distribution.mean()

    def _variance(self):
        return self.distribution.variance()

    def _stddev(self):
        return self.distribution.stddev()

    def _mode(self):
        return self.distribution.mode()

    def _added(self, statistic):
        return math.reduce_sum(statistic, axis=[-1 - i for i in range(self._ndims)])


@RegisterKL(Independent, Independent)
def _kl_independent(a, b, name="kl_independent"):
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined() and a.event_shape != b.event_shape:
        raise ValueError("Event shapes do not match.")
    axes = [-1 - i for i in range(a.reinterpreted_batch_ndims)]
    return math.reduce_sum(kl_divergence(a.distribution, b.distribution), axis=axes)
