"""Estimators made from estimators, with more in them."""

from __future__ import annotations

from everflow.estimator.arguments import fn_args, named
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys


def add_metrics(estimator, metric_fn):
    """An estimator that reports further metrics: `metric_fn(features, labels, predictions, config)` gives them by name.

    Args:
        estimator: The Estimator.
        metric_fn: The function; it may take fewer arguments.

    Returns:
        An Estimator.

    Raises:
        ValueError: If an argument isn't known.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> regressor = tf.estimator.LinearRegressor([x], "model")
        >>> more = tf.estimator.add_metrics(regressor, lambda labels: {"mean": tf.metrics.mean(labels)})
        >>> type(more).__name__
        'Estimator'
    """
    allowed = ("features", "predictions", "labels", "config", "self")
    unknown = sorted(set(fn_args(metric_fn)) - set(allowed))
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        more = metric_fn(
            **named(metric_fn, features=features, labels=labels, predictions=spec.predictions, config=config)
        )
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    warm = estimator._warm_start_settings
    return Estimator(model_fn, model_dir=estimator.model_dir, config=estimator.config, warm_start_from=warm)
