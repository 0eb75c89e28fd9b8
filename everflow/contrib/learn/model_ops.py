"""What model functions and input functions of tf.contrib.learn return, and the names they use."""

from __future__ import annotations

import collections

from everflow.estimator.export.outputs import ClassificationOutput, PredictOutput, RegressionOutput
from everflow.estimator.spec import EstimatorSpec
from everflow.framework.operation import Tensor
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """Raise ValueError for anything else."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class PredictionKey:
    """Names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class MetricKey:
    """Names of metrics; those with `%d` are of one class, those with `%f` of one threshold."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


class ProblemType:
    """Kinds of problems."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


InputFnOps = collections.namedtuple("InputFnOps", ["features", "labels", "default_inputs"])

_FIELDS = "predictions loss train_op eval_metric_ops output_alternatives training_chief_hooks training_hooks scaffold"


class ModelFnOps(collections.namedtuple("ModelFnOps", f"{_FIELDS} mode")):
    """The ops of a model for one mode: predictions, loss, train op and metrics."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, output_alternatives=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None):  # fmt: skip
        ModeKeys.validate(mode)
        needless = {"train_op": (train_op, mode != ModeKeys.TRAIN), "loss": (loss, mode == ModeKeys.INFER)}
        needless["predictions"] = predictions, mode == ModeKeys.TRAIN
        for name, (given, may_miss) in needless.items():
            if given is None and not may_miss:
                raise ValueError(f"Missing {name}.")
        hooks = training_chief_hooks or [], training_hooks or []
        metrics = eval_metric_ops or {}
        return super().__new__(cls, predictions, loss, train_op, metrics, output_alternatives, *hooks, scaffold, mode)

    def estimator_spec(self, default_serving_output_alternative_key=None):
        """The same as what a model function of tf.estimator returns."""
        # The mean of the loss is a metric there anyway.
        metrics = {name: metric for name, metric in self.eval_metric_ops.items() if name != "loss"}
        same = ("mode", "predictions", "loss", "training_chief_hooks", "training_hooks", "scaffold")
        train_op = self.train_op.op if isinstance(self.train_op, Tensor) else self.train_op
        computed = {"eval_metric_ops": metrics or None, "export_outputs": self._export_outputs()}
        return EstimatorSpec(train_op=train_op, **computed, **{name: getattr(self, name) for name in same})

    def _export_outputs(self):
        """What a saved model serves: the first of the outputs that a head told of, else all predictions."""
        if self.mode != ModeKeys.INFER or not self.output_alternatives:
            return None
        problem, outputs = next(iter(self.output_alternatives.values()))
        if problem == ProblemType.LINEAR_REGRESSION:
            served = RegressionOutput(outputs[PredictionKey.SCORES])
        elif problem == ProblemType.UNSPECIFIED or PredictionKey.PROBABILITIES not in outputs:
            served = PredictOutput(outputs)
        else:
            served = ClassificationOutput(outputs[PredictionKey.PROBABILITIES], outputs[PredictionKey.CLASSES])
        return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: served}
