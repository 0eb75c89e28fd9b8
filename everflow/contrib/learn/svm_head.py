"""A head that tells two classes apart by a margin, one that has a loss only, and one that is made of several heads."""

from __future__ import annotations

from everflow import losses, summary
from everflow import metrics as metrics_lib
from everflow.contrib.learn.heads import Head
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.variables.scope import variable_scope

_TOO_MANY_AXES = "Labels of two classes have at most two axes"


class BinarySvmHead(Head):
    """The hinge loss of two classes."""

    _default_name = "binary_svm_head"
    _loss_name = "hinge_loss"
    _problem = ProblemType.LOGISTIC_REGRESSION
    sdca_loss = "hinge_loss"  # type: ignore[assignment]

    def _losses(self, logits, labels, name):
        with control_dependencies([Assert(math.less_equal(array.rank(labels), 2), (_TOO_MANY_AXES,))]):
            column = array.reshape(labels, (-1, 1))
        return losses.hinge_loss(column, logits, scope=name, reduction=losses.Reduction.NONE)

    def _predictions(self, logits):
        both = array.concat((array.zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: math.argmax(both, 1, name=PredictionKey.CLASSES)}

    def _metrics(self, loss, predictions, labels, weights):
        hits = predictions[PredictionKey.CLASSES]
        return {"loss": metrics_lib.mean(loss), "accuracy": metrics_lib.accuracy(labels, hits, weights)}


def binary_svm_head(
    label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None, thresholds=None
):
    """A head for two classes with the hinge loss; its metrics know no `thresholds`, which all heads of two classes take."""
    return BinarySvmHead(1, label_name, weight_column_name, head_name, enable_centered_bias)


class LossOnlyHead(Head):
    """Has no logits, only a loss that a function without arguments gives: a penalty beside other heads."""

    def __init__(self, loss_fn, head_name):
        super().__init__(0, None, None, head_name or "loss_only_head")
        self._loss_fn = loss_fn

    def _losses(self, logits, labels, name):
        raise NotImplementedError("This head's loss is of no single example")

    def _predictions(self, logits):
        return {}

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """A `ModelFnOps` with a loss and nothing else."""
        ModeKeys.validate(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with variable_scope(scope, self.head_name):
                loss = convert_to_tensor(self._loss_fn())
                if loss.shape.rank not in (None, 0):
                    raise ValueError(f"The loss of a head must be a scalar, but it is {loss}")
                with name_scope(""):
                    summary.scalar(self._name("loss"), array.identity(loss))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("To train, a head needs train_op_fn: a function from the loss to the train op")
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode, {}, loss, train_op, {})


def loss_only_head(loss_fn, head_name=None):
    """A head of a loss alone: `loss_fn()` returns it."""
    return LossOnlyHead(loss_fn, head_name)


class MultiHead(Head):
    """Several heads on logits side by side; the loss is the sum of theirs."""

    _default_name = "multi_head"

    def __init__(self, heads, loss_weights):
        super().__init__(sum(head.logits_dimension for head in heads), None, None, None)
        self._heads = heads
        self._loss_weights = loss_weights

    def _losses(self, logits, labels, name):
        raise NotImplementedError("The losses of a multi head are those of its heads")

    def _predictions(self, logits):
        raise NotImplementedError("The predictions of a multi head are those of its heads")

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """What all heads make of their shares of the logits, by (head, key)."""
        if (logits is None) == (logits_input is None):
            raise ValueError("A multi head wants logits, or what to make them from: one of the two")
        shares = [None] * len(self._heads) if logits is None else self._shares(logits)
        no_step = (lambda _: no_op()) if mode == ModeKeys.TRAIN else None
        made = []
        for head, share in zip(self._heads, shares):
            of_head = {} if isinstance(head, LossOnlyHead) else {"logits": share, "logits_input": logits_input}
            made.append(head.create_model_fn_ops(features, mode, labels, no_step, scope=scope, **of_head))
        evaluated = {key: value for ops in made for key, value in ops.eval_metric_ops.items()}
        if mode == ModeKeys.INFER:
            outputs = {key: value for ops in made for key, value in (ops.output_alternatives or {}).items()}
            return ModelFnOps(mode, self._all_predictions(made), output_alternatives=outputs)
        loss = self._total([ops.loss for ops in made])
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, self._all_predictions(made), loss, eval_metric_ops=evaluated)
        if train_op_fn is None:
            raise ValueError("To train, a head needs train_op_fn: a function from the loss to the train op")
        train_op = group(train_op_fn(loss), *[ops.train_op for ops in made])
        return ModelFnOps(mode, None, loss, train_op, evaluated)

    def _shares(self, logits):
        """Each head's logits, by name or as columns of a tensor; None for heads that take none."""
        if isinstance(logits, dict):
            return [logits[head.head_name] if head.logits_dimension else None for head in self._heads]
        logits = convert_to_tensor(logits)
        shares, begin = [], 0
        for head in self._heads:
            size = head.logits_dimension
            shares.append(array.slice_(logits, [0, begin], [-1, size]) if size else None)
            begin += size
        return shares

    def _all_predictions(self, made):
        return {
            (head.head_name, key): value
            for head, ops in zip(self._heads, made)
            for key, value in (ops.predictions or {}).items()
        }

    def _total(self, of_heads):
        if self._loss_weights:
            of_heads = [math.multiply(loss, weight) for loss, weight in zip(of_heads, self._loss_weights)]
        return math.add_n(of_heads)


def multi_head(heads, loss_weights=None):
    """A head made of several, each with a name of its own; losses are added up with `loss_weights`."""
    if loss_weights is not None and len(loss_weights) != len(heads):
        raise ValueError(f"{len(heads)} heads have {len(loss_weights)} loss_weights; there must be one for each")
    names = [head.head_name for head in heads]
    if None in names or len(set(names)) < len(names):
        raise ValueError(f"The heads of a multi head must have names, each a head_name of its own; there are {names}")
    return MultiHead(heads, loss_weights)
