"""What training knows of each output of a model: target, loss, weights and metrics, and their parts of the graph."""

from __future__ import annotations

import copy

from everflow.eager import version_mark
from everflow.framework import strategy_context
from everflow.framework.scopes import name_scope
from everflow.keras import backend as K
from everflow.keras import losses as losses_module
from everflow.keras import metrics as metrics_module
from everflow.keras.engine.node import shape_tuple
from everflow.keras.engine.per_output import from_dict, from_list
from everflow.keras.loss_reduction import (
    Reduction,
    compute_weighted_loss,
    reduce_weighted_loss,
    squeeze_or_expand_dimensions,
)
from everflow.ops import math
from everflow.ops.array.constants import placeholder_with_default


class Endpoint:
    """One output of a model that is trained."""

    def __init__(self, output, name, loss, sample_weight_mode):
        self.output, self.name, self.loss = output, name, loss
        self.loss_weight = 1.0
        self.sample_weight_mode = sample_weight_mode
        self.target = self.sample_weight = self.given_target = None
        self.is_fed = True
        self.metrics, self.weighted_metrics = [], []
        self.loss_metric = None

        self.known_shape = None  # where there is no output yet

    shape = property(lambda self: self.known_shape if self.output is None else shape_tuple(self.output))
    mask = property(lambda self: getattr(self.output, "_keras_mask", None))

    # Names that programs know from inside TensorFlow.
    output_name = property(lambda self: self.name)
    loss_fn = property(lambda self: self.loss)
    output_loss_metric = property(lambda self: self.loss_metric)
    training_target = property(lambda self: self if self.loss is not None else None)
    feed_output_shape = property(lambda self: self.target_shape)

    def has_training_target(self):
        """Whether there is something to compare the output with."""
        return self.loss is not None

    def has_feedable_training_target(self):
        """Whether that is fed with each batch."""
        return self.is_fed and self.loss is not None

    def should_skip_target(self):
        """Whether the output isn't trained."""
        return self.loss is None

    should_skip_target_weights = should_skip_target

    def loss_name(self):
        """What the loss is reported as."""
        return None if self.loss is None else self.name + "_loss"

    def sample_weights_mismatch(self):
        """Whether weights are expected and not there, or the other way round."""
        return (self.sample_weight_mode is None) != (self.sample_weight is None)

    @property
    def loss_function_name(self):
        """The name of the loss's function."""
        return getattr(getattr(self.loss, "fn", None), "__name__", None)

    @property
    def target_shape(self):
        """The shape that targets must have; None where any may do."""
        if self.loss is None:
            return None
        name = self.loss_function_name
        shape = self.shape
        if name == "sparse_categorical_crossentropy" and shape is not None:
            is_image = K.image_data_format() == "channels_first" and len(shape) in (4, 5)
            return (shape[0], 1, *shape[2:]) if is_image else (*shape[:-1], 1)
        if name is not None and getattr(losses_module, name, None) is getattr(self.loss, "fn", None):
            return shape
        return None

    def make_target(self, tensor=None):
        """The target: the tensor given, or a placeholder."""
        if self.loss is None:
            self.target = tensor
            self.is_fed = False
            return
        if tensor is not None:
            self.target = tensor
            # A placeholder of the program's own is fed like ours.
            self.is_fed = K.is_placeholder(tensor)
            return
        like = {"sparse": K.is_sparse(self.output), "dtype": K.dtype(self.output)}
        self.target = K.placeholder(ndim=len(self.shape), name=self.name + "_target", **like)

    def make_sample_weight(self):
        """A placeholder for the weights of samples: all one unless they are fed."""
        if self.loss is None or self.sample_weight is not None:
            return
        temporal = self.sample_weight_mode == "temporal"
        default = [[1.0]] if temporal else [1.0]
        self.sample_weight = placeholder_with_default(
            K.constant(default), shape=[None, None] if temporal else [None], name=self.name + "_sample_weights"
        )

    def make_loss(self):
        """The loss of a batch."""
        with name_scope(self.name + "_loss"):
            weight = _masked(self.sample_weight, self.mask, self.output)
            if not self._is_reduced_here:
                return self.loss(self.target, self.output, sample_weight=weight)
            per_sample = self.loss.call(self.target, self.output)
            weighted = compute_weighted_loss(per_sample, sample_weight=weight, reduction=Reduction.NONE)
            return reduce_weighted_loss(weighted, reduction=self._reduction)

    # A loss of the program's own that doesn't say how it is reduced reduces itself, to a mean.
    _is_reduced_here = property(lambda self: hasattr(self.loss, "reduction"))

    @property
    def _reduction(self):
        """How the losses of samples become one."""
        known = getattr(self.loss, "reduction", Reduction.AUTO)
        return Reduction.SUM_OVER_BATCH_SIZE if known == Reduction.AUTO else known

    def part_of_replica(self, loss):
        """What the loss of a replica's rows adds to the loss of the whole batch."""
        is_mean = self._reduction == Reduction.SUM_OVER_BATCH_SIZE
        return strategy_context.part_of_replica(loss) if is_mean else loss

    def bound_to(self, output, target, sample_weight):
        """The same for other tensors, those of one batch."""
        other = copy.copy(self)
        other.output, other.target, other.sample_weight = output, target, sample_weight
        return other


def total_loss(endpoints, results):
    """The losses of outputs, each times its weight, added up, or None; metrics of single losses go to `results`."""
    total = None
    for endpoint in endpoints:
        if endpoint.loss is None:
            continue
        loss = endpoint.make_loss()
        if endpoint.loss_metric is not None:
            results[endpoint.loss_metric] = endpoint.loss_metric(loss)
        weighted = endpoint.loss_weight * endpoint.part_of_replica(loss)
        total = weighted if total is None else total + weighted
    return total


def _masked(weight, mask, output):
    """The weights of samples, with none for what a mask leaves out."""
    if mask is None:
        return weight
    mask = math.cast(mask, output.dtype)
    if weight is None:
        return mask
    mask, _, weight = squeeze_or_expand_dimensions(mask, sample_weight=weight)
    return weight * mask


def loss_objects(loss, output_names):
    """A loss (or None) for each output, from what `compile` was given."""
    if isinstance(loss, dict):
        losses = from_dict(loss, output_names, "loss")
    elif isinstance(loss, (list, tuple)):
        losses = from_list(loss, output_names, "loss")
    else:
        losses = [loss] * len(output_names)
    return [_loss_object(one) for one in losses]


def _loss_object(loss):
    if loss is None:
        return None
    loss = losses_module.get(loss)
    if isinstance(loss, losses_module.Loss):
        return loss
    name = getattr(loss, "__name__", None)
    return losses_module.LossFunctionWrapper(loss, name=name, reduction=Reduction.SUM_OVER_BATCH_SIZE)


def loss_weights(weights, output_names):
    """A weight for the loss of each output."""
    if weights is None:
        return [1.0] * len(output_names)
    if isinstance(weights, dict):
        return from_dict(weights, output_names, "loss_weights", 1.0)
    if isinstance(weights, list):
        return from_list(weights, output_names, "loss_weights")
    raise TypeError(f"Could not interpret loss_weights argument: {weights} is neither a list nor a dict.")


def sample_weight_modes(mode, output_names):
    """The mode of sample weights for each output: "temporal", or None where each sample has one weight."""
    if isinstance(mode, dict):
        modes = from_dict(mode, output_names, "sample_weight_mode")
        if missing := [name for name in output_names if name not in mode]:
            raise ValueError(f"`sample_weight_mode` as a dict has an entry for each output; it lacks {missing}.")
    elif isinstance(mode, (list, tuple)):
        modes = from_list(mode, output_names, "sample_weight_mode")
    else:
        modes = [mode or None] * len(output_names)
    return [None if each == "samplewise" else each for each in modes]


def check_sample_weight_modes(modes):
    """AssertionError for a mode that there isn't."""
    for mode in modes:
        if mode not in (None, "temporal"):
            raise AssertionError(f'`sample_weight_mode` is None, "temporal" or "samplewise", not {mode!r}.')


def metrics_by_output(metrics, output_names):
    """A list of metrics for each output, from what `compile` was given."""
    if metrics is None or not len(metrics) and not isinstance(metrics, str):
        return [[] for _ in output_names]
    if isinstance(metrics, dict):
        return [_listed(m) for m in from_dict(metrics, output_names, "metrics", [])]
    if not isinstance(metrics, list):
        raise TypeError(f"`metrics` is a list or a dict by the names of outputs, not {metrics!r}.")
    if any(isinstance(m, (list, tuple)) for m in metrics):
        return [_listed(m) for m in from_list(metrics, output_names, "metrics")]
    if len(output_names) == 1:
        return [list(metrics)]
    # Each output has metrics of its own: objects keep state.
    return [metrics_module.clone_metrics(metrics) for _ in output_names]


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


_ACCURACY, _CROSSENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


def metric_object(metric, endpoint, weighted):
    """(name, metric object) for what the program named; "accuracy" depends on the output and the loss."""
    name = metric_name(metric, weighted)
    function = metric if isinstance(metric, metrics_module.Metric) else metric_function(metric, endpoint)
    if isinstance(function, metrics_module.Metric):
        return name, function
    return name, metrics_module.MeanMetricWrapper(function, name=name)


def metric_name(metric, weighted=False):
    """What a metric is reported as; TensorFlow 2 keeps to the program's own word for it."""
    if version_mark.enabled() and isinstance(metric, str):
        return metric
    prefix = "weighted_" if weighted and not version_mark.enabled() else ""
    if isinstance(metric, str) and metric in (*_ACCURACY, *_CROSSENTROPY):
        return prefix + ("acc" if metric in _ACCURACY else "ce")
    found = metric if isinstance(metric, metrics_module.Metric) else metrics_module.get(metric)
    return prefix + (getattr(found, "name", None) or getattr(found, "__name__", type(found).__name__))


def metric_function(metric, endpoint):
    """The function that a metric's name means for an output and its loss."""
    if metric not in (*_ACCURACY, *_CROSSENTROPY):
        return metrics_module.get(metric)
    loss_name = endpoint.loss_function_name
    is_accuracy = metric in _ACCURACY
    kind = "categorical"
    if endpoint.shape[-1] == 1 or loss_name == "binary_crossentropy":
        kind = "binary"
    elif loss_name == "sparse_categorical_crossentropy":
        kind = "sparse_categorical"
    return getattr(metrics_module, f"{kind}_{'accuracy' if is_accuracy else 'crossentropy'}")


def call_metric(metric, target, output, weight, mask):
    """Draw the update of a metric; its result is what the training step shows."""
    weight = _masked(weight, mask, output)
    return metric(target, output, sample_weight=weight) if output is not None else metric(target, sample_weight=weight)
