"""`MetricSpec`: which metric to compute of which predictions, labels and weights."""

from __future__ import annotations

import inspect

from everflow.contrib.framework.kept_arguments import keep

_NAMES = {
    "predictions": ("predictions", "prediction"),
    "labels": ("labels", "label", "targets", "target"),
    "weights": ("weights", "weight"),
}


class MetricSpec:
    """A metric of predictions, which are picked by keys where there are several.

    >>> tf.contrib.learn.MetricSpec(metric_fn=tf.metrics.accuracy, prediction_key="classes")
    """

    def __init__(self, metric_fn, prediction_key=None, label_key=None, weight_key=None):
        keep(self, locals())

    prediction_key = property(lambda self: self._prediction_key)
    label_key = property(lambda self: self._label_key)
    weight_key = property(lambda self: self._weight_key)
    metric_fn = property(lambda self: self._metric_fn)

    def __str__(self):
        name = getattr(self._metric_fn, "__name__", repr(self._metric_fn))
        return f"MetricSpec(metric_fn={name}, prediction_key={self.prediction_key}, label_key={self.label_key}, weight_key={self.weight_key})"

    def create_metric_ops(self, inputs, labels, predictions):
        """The metric's value and update ops."""
        given = {
            "predictions": _picked(predictions, self._prediction_key, "prediction", self),
            "labels": _picked(labels, self._label_key, "label", self),
        }
        if self._weight_key:
            given["weights"] = inputs[self._weight_key]
        try:
            return self._metric_fn(**_arguments(self._metric_fn, given))
        except Exception as error:
            raise type(error)(f"Could not create metric ops for {self}, {error}") from error


def _picked(tensors, key, kind, spec):
    if key is None:
        if isinstance(tensors, dict):
            if len(tensors) != 1:
                raise ValueError(
                    f"MetricSpec without specified {kind}_key requires {kind}s tensor or single element dictionary, got {tensors}."
                )
            return next(iter(tensors.values()))
        return tensors
    if not isinstance(tensors, dict):
        raise ValueError(f"MetricSpec with {kind}_key specified requires {kind}s dict, got {tensors} ({spec}).")
    return tensors[key]


def _arguments(metric_fn, given):
    """The tensors under the names that the function has for them."""
    try:
        parameters = inspect.signature(metric_fn).parameters
    except (TypeError, ValueError):
        return given
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return given
    named = {}
    for role, tensor in given.items():
        name = next((name for name in _NAMES[role] if name in parameters), None)
        if name is not None:
            named[name] = tensor
    if "predictions" in given and not any(name in named for name in _NAMES["predictions"]):
        # Functions of other names take predictions first, then labels.
        return dict(zip(parameters, given.values()))
    return named


def metric_ops(metrics, features, labels, predictions):
    """{name: metric ops} for metrics given as MetricSpecs, or as functions by name or by (name, prediction's key)."""
    result = {}
    for name, metric in sorted((metrics or {}).items(), key=str):
        if isinstance(metric, MetricSpec):
            result[name] = metric.create_metric_ops(features, labels, predictions)
            continue
        if isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(f"A metric is named by a string, or by (name, key of the prediction); got {name}")
            name, key = name
            result[name] = metric(predictions[key], labels)
            continue
        if isinstance(predictions, dict) and len(predictions) != 1:
            raise ValueError(f"The metric {name!r} needs a prediction's key, (name, key): {sorted(predictions)}")
        result[name] = metric(_picked(predictions, None, "prediction", None), labels)
    return result
