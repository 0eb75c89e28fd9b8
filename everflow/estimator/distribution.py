"""Training under a `tf.distribute.Strategy`: the model function is called for each replica, over its input.

Evaluation and prediction need none: they draw the model once, and restore what all replicas share.
"""

from __future__ import annotations

from everflow.data.dataset import Dataset
from everflow.distribute.context import get_loss_reduction, losses_are_means
from everflow.estimator.input_functions import DatasetInitializerHook, parse_input_fn_result
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.ops.control_flow.grouping import group


def distributed_train_spec(estimator, strategy, input_fn):
    """(one EstimatorSpec of all replicas, hooks of the input), drawn in the strategy's scope; it trains them all."""
    features, labels, input_hooks = _distributed_input(estimator, strategy, input_fn, ModeKeys.TRAIN)
    specs = []

    def replica_fn(features, labels):
        specs.append(estimator._call_model_fn(features, labels, ModeKeys.TRAIN, estimator.config))
        return specs[-1].loss

    with losses_are_means(strategy):
        losses = strategy.extended.call_for_each_replica(replica_fn, args=(features, labels))
        loss = strategy.reduce(get_loss_reduction(), losses)
    kinds = ("training_chief_hooks", "training_hooks")
    hooks = {kind: [hook for spec in specs for hook in getattr(spec, kind)] for kind in kinds}
    train_op = group(*(spec.train_op for spec in specs))
    spec = EstimatorSpec(ModeKeys.TRAIN, loss=loss, train_op=train_op, scaffold=specs[0].scaffold, **hooks)
    return spec, input_hooks


def _distributed_input(estimator, strategy, input_fn, mode):
    """Features and labels with a part for each replica: every replica takes batches of its own."""
    result = estimator._call_input_fn(input_fn, mode, input_context=strategy._input_context())
    if not isinstance(result, Dataset):
        return parse_input_fn_result(result)
    iterator = strategy.make_input_fn_iterator(lambda context: result)
    features, labels, _ = parse_input_fn_result(iterator.get_next())
    return features, labels, [DatasetInitializerHook(iterator)]
