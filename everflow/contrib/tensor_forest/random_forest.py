"""Estimators of random forests, for tf.contrib.learn and for tf.estimator."""

from __future__ import annotations

from everflow.contrib.learn import class_heads, heads
from everflow.contrib.learn.estimator import Estimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.tensor_forest.graphs import RandomForestGraphs
from everflow.estimator import estimator as core
from everflow.estimator.export.outputs import PredictOutput
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables import assign as state
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

KEYS_NAME = "keys"
LOSS_NAME = "rf_training_loss"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
EPSILON = 0.000001


class ModelBuilderOutputType:
    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


class TensorForestRunOpAtEndHook(SessionRunHook):
    """Shows what some ops say when training ends."""

    def __init__(self, op_dict):
        self._ops = op_dict

    def end(self, session):
        for name in sorted(self._ops):
            logging.info("%s: %s", name, session.run(self._ops[name]))


class TensorForestLossHook(SessionRunHook):
    """Ends training when the loss hasn't fallen for some steps: when trees don't grow any more."""

    # The smallest loss so far, the last step that was seen, and the steps since the loss fell.
    min_loss, last_step, steps = None, -1, 0

    @takes("early_stopping_rounds, early_stopping_loss_threshold=None, loss_op=None")
    def __init__(self, **settings):
        vars(self).update(settings)

    def before_run(self, run_context):
        loss = (
            self.loss_op if self.loss_op is not None else run_context.session.graph.get_tensor_by_name(LOSS_NAME + ":0")
        )
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context, run_values):
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        # A step that was seen already says nothing new.
        if self.last_step == -1 or self.last_step > step:
            self.steps = 0
        self.last_step = step
        threshold = self.early_stopping_loss_threshold or 0.0
        if self.min_loss is None or loss < self.min_loss - abs(self.min_loss) * threshold:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            logging.info("TensorForestLossHook stops training: the loss is %s.", loss)
            run_context.request_stop()


def _head_of(params, weights_name):
    if params.regression:
        return heads.regression_head(weight_column_name=weights_name, label_dimension=params.num_classes)
    return class_heads.multi_class_head(params.num_classes, weight_column_name=weights_name)


def _logits(probabilities, params):
    """Logits that a head makes the same probabilities of."""
    probabilities.set_shape([None, params.num_classes])
    if params.regression:
        return probabilities
    if params.num_classes > 2:
        return math.log(math.maximum(probabilities, EPSILON))
    second = array.reshape(probabilities[:, 1], [-1, 1])
    return math.log(math.maximum(second, EPSILON)) - math.log(math.maximum(1 - second, EPSILON))


def _without(features, *names):
    """Features but those that are weights and keys; a single one as it is."""
    if not isinstance(features, dict):
        return features
    kept = {name: value for name, value in features.items() if name not in names}
    return next(iter(kept.values())) if len(kept) == 1 else kept


def _training(graphs, given, features, labels, weights):
    """(train op, loss, hooks) of a forest."""
    trained = graphs.training_graph(
        features,
        labels,
        num_trainers=given["num_trainers"],
        trainer_id=given["trainer_id"],
        **({} if weights is None else {"input_weights": array.reshape(weights, [-1])}),
    )
    train_op = group(trained, state.assign_add(get_global_step(), 1))
    with control_dependencies([train_op]):
        loss = graphs.training_loss(features, labels, name=LOSS_NAME)
    hooks = []
    if given["early_stopping_rounds"]:
        threshold = given["early_stopping_loss_threshold"]
        hooks.append(TensorForestLossHook(given["early_stopping_rounds"], threshold, loss_op=loss))
    if given["report_feature_importances"]:
        hooks.append(TensorForestRunOpAtEndHook({"feature_importances": graphs.feature_importances()}))
    return train_op, loss, hooks


_BUILDER = """params, graph_builder_class, device_assigner, feature_columns=None, weights_name=None, model_head=None, keys_name=None,
    early_stopping_rounds=100, early_stopping_loss_threshold=0.001, num_trainers=1, trainer_id=0, report_feature_importances=False,
    local_eval=False, head_scope=None, include_all_in_serving=False, output_type=0"""


@takes(_BUILDER)
def get_model_fn(**given):
    """A model function of a forest."""
    params, head = given["params"], given["model_head"] or _head_of(given["params"], given["weights_name"])

    def _model_fn(features, labels, mode):
        inputs = dict(features) if isinstance(features, dict) else {"": features}
        seen = _without(features, given["weights_name"], given["keys_name"])
        weights = inputs.get(given["weights_name"]) if given["weights_name"] else None
        graphs = given["graph_builder_class"](
            params, device_assigner=given["device_assigner"], training=mode == ModeKeys.TRAIN
        )
        probabilities, tree_paths, variance = graphs.inference_graph(seen)
        train_op, loss, hooks = None, None, []
        if mode == ModeKeys.TRAIN:
            train_op, loss, hooks = _training(graphs, given, seen, labels, weights)
        ops = head.create_model_fn_ops(
            inputs, mode, labels, lambda _: train_op, _logits(probabilities, params), scope=given["head_scope"]
        )
        told = dict(ops.predictions)
        told[VARIANCE_PREDICTION_KEY] = variance
        if params.inference_tree_paths:
            told[TREE_PATHS_PREDICTION_KEY] = tree_paths
        if given["keys_name"] and given["keys_name"] in inputs:
            told[given["keys_name"]] = inputs[given["keys_name"]]
        made = ModelFnOps(
            mode,
            predictions=told,
            loss=loss if mode == ModeKeys.TRAIN else ops.loss,
            train_op=train_op,
            eval_metric_ops=ops.eval_metric_ops,
            output_alternatives=ops.output_alternatives,
            training_hooks=hooks,
        )
        if given["output_type"] == ModelBuilderOutputType.MODEL_FN_OPS:
            return made
        spec = made.estimator_spec()
        if given["include_all_in_serving"] and spec.export_outputs:
            spec = spec._replace(export_outputs={**spec.export_outputs, ALL_SERVING_KEY: PredictOutput(told)})
        return spec

    return _model_fn


_ESTIMATOR = """params, device_assigner=None, model_dir=None, feature_columns=None, graph_builder_class=GRAPHS, config=None, weight_column=None,
    keys_column=None, feature_engineering_fn=None, early_stopping_rounds=100, early_stopping_loss_threshold=0.001, num_trainers=1, trainer_id=0,
    report_feature_importances=False, local_eval=False, version=None, head=None, include_all_in_serving=False"""


def _model_fn_of(given, output_type):
    same = (
        "device_assigner feature_columns graph_builder_class early_stopping_rounds early_stopping_loss_threshold "
        "num_trainers trainer_id report_feature_importances local_eval include_all_in_serving"
    ).split()
    return get_model_fn(
        params=given["params"].fill(),
        weights_name=given["weight_column"],
        keys_name=given["keys_column"],
        model_head=given["head"],
        output_type=output_type,
        **{name: given[name] for name in same},
    )


class TensorForestEstimator(Estimator):
    """A random forest as an estimator of tf.contrib.learn.

    >>> params = tensor_forest.ForestHParams(num_classes=2, num_features=40, num_trees=10, max_nodes=1000)
    >>> estimator = random_forest.TensorForestEstimator(params)
    >>> estimator.fit(x=x_train, y=y_train)
    """

    @takes(_ESTIMATOR, GRAPHS=RandomForestGraphs)
    def __init__(self, **given):
        Estimator.__init__(
            self,
            model_fn=_model_fn_of(given, ModelBuilderOutputType.MODEL_FN_OPS),
            model_dir=given["model_dir"],
            config=given["config"],
            feature_engineering_fn=given["feature_engineering_fn"],
        )


class CoreTensorForestEstimator(core.Estimator):
    """A random forest as an estimator of tf.estimator."""

    @takes(_ESTIMATOR, GRAPHS=RandomForestGraphs)
    def __init__(self, **given):
        model_fn = _model_fn_of(given, ModelBuilderOutputType.ESTIMATOR_SPEC)
        core.Estimator.__init__(self, model_fn=model_fn, model_dir=given["model_dir"], config=given["config"])
