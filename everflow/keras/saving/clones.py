"""A model drawn anew, with its optimizer and metrics, for another graph: what is exported, or trained as an Estimator."""

from __future__ import annotations

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.keras.generic import CustomObjectScope
from everflow.keras.models import clone_model
from everflow.keras.optimizers import TFOptimizer
from everflow.ops.control_flow.grouping import group


def clone_with(model, inputs, custom_objects):
    """The model drawn anew, on these inputs or placeholders."""
    with CustomObjectScope(custom_objects):
        return clone_model(model, input_tensors=inputs)


def copy_of(optimizer, global_step, config=None):
    """An optimizer with the same settings that counts in the global step; `config` has them where they are known."""
    if isinstance(optimizer, TFOptimizer):
        return TFOptimizer(optimizer.optimizer, global_step)
    copy = optimizer.__class__.from_config(config or optimizer.get_config())
    copy.iterations = global_step
    return copy


def as_metric_op(metric):
    """(result, update) of a metric, as tf.metrics gives them; its state starts anew with each evaluation."""
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        known = get_collection(collection)
        for variable in metric.variables:
            if all(variable is not other for other in known):
                add_to_collection(collection, variable)
    return metric.result(), group(*metric.updates)
