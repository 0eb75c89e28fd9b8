"""`DynamicRnnEstimator`: a recurrent network over sequences, with one answer for each or one at each step."""

from __future__ import annotations

from everflow.contrib import layers
from everflow.contrib.learn.estimator import BaseEstimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from everflow.framework import dtypes, nest
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.metrics import accuracy
from everflow.ops import array, math
from everflow.ops.array.sequences import boolean_mask
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.nn.activations import softmax
from everflow.ops.nn.losses import sparse_softmax_cross_entropy_with_logits
from everflow.ops.variables.global_step import get_global_step
from everflow.platform.signatures import optional, takes
from everflow.rnn import rnn_cell
from everflow.rnn.dynamic import dynamic_rnn
from everflow.train import MomentumOptimizer

_CELLS = {"basic_rnn": rnn_cell.BasicRNNCell, "lstm": rnn_cell.LSTMCell, "gru": rnn_cell.GRUCell}


class PredictionType:
    """How many answers a sequence has."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """Names of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


def _state_name(number):
    return f"{RNNKeys.STATE_PREFIX}_{number}"


def construct_rnn_cell(num_units, cell_type="basic_rnn", dropout_keep_probabilities=None):
    """A cell of layers of so many units each; `cell_type` is one of "basic_rnn", "lstm" and "gru", or a class."""
    cls = _CELLS.get(cell_type, cell_type)
    if not (isinstance(cls, type) and issubclass(cls, rnn_cell.RNNCell)):
        raise TypeError(f"cell_type must be one of {sorted(_CELLS)} or a class of cells, not {cell_type!r}")
    sizes = list(num_units) if isinstance(num_units, (list, tuple)) else [num_units]
    more = {"state_is_tuple": True} if issubclass(cls, rnn_cell.LSTMCell) else {}
    cells = [cls(num_units=size, **more) for size in sizes]
    if dropout_keep_probabilities:
        cells = _with_dropout(cells, list(dropout_keep_probabilities))
    return cells[0] if len(cells) == 1 else rnn_cell.MultiRNNCell(cells)


def _with_dropout(cells, keep):
    if len(keep) != len(cells) + 1:
        raise ValueError(
            f"There must be a probability for the inputs and one behind each of {len(cells)} cells, not {len(keep)}"
        )
    kept = [rnn_cell.DropoutWrapper(cell, p, 1.0) for cell, p in zip(cells, keep[:-1], strict=True)]
    return [*kept[:-1], rnn_cell.DropoutWrapper(kept[-1], 1.0, keep[-1])]


def select_last_activations(activations, sequence_lengths):
    """What each sequence gives at its last step."""
    with name_scope("select_last_activations", values=[activations, sequence_lengths]):
        shape = array.shape(activations)
        batch, steps, width = shape[0], shape[1], shape[2]
        flat = array.reshape(activations, [-1, width])
        if sequence_lengths is None:
            sequence_lengths = steps
        last = array.gather(flat, math.range(batch) * steps + sequence_lengths - 1)
        last.set_shape([activations.shape.size(0), activations.shape.size(2)])
        return last


def mask_activations_and_labels(activations, labels, sequence_lengths):
    """What is given at steps that sequences have, and the labels there, without their order in time."""
    with name_scope("mask_activations_and_labels", values=[activations, labels, sequence_lengths]):
        shape = array.shape(labels)
        batch, steps = shape[0], shape[1]
        if sequence_lengths is None:
            size = batch * steps
            return array.reshape(activations, [size, -1]), array.reshape(labels, [size])
        mask = array.sequence_mask(lengths=sequence_lengths, maxlen=steps)
        return boolean_mask(activations, mask), boolean_mask(labels, mask)


def build_sequence_input(features, sequence_feature_columns, context_feature_columns, weight_collections=None):
    """Sequences with what is the same at all their steps beside each step."""
    given = dict(features)
    sequence = layers.sequence_input_from_feature_columns(given, sequence_feature_columns or [], weight_collections)
    if not context_feature_columns:
        return sequence
    context = layers.input_from_feature_columns(given, context_feature_columns, weight_collections)
    checks = []
    for tensor, rank in ((sequence, 3), (context, 2)):
        told = f"An input of rank {rank} is wanted"
        checks.append(check_shapes.assert_rank(tensor, rank, message=told, data=[array.shape(tensor)]))
        checks.append(check_shapes.assert_type(tensor, dtypes.float32))
    with control_dependencies(checks):
        steps = array.shape(sequence)[1]
        tiled = array.tile(array.expand_dims(context, 1), array.concat([[1], [steps], [1]], 0))
    return array.concat([sequence, tiled], 2)


class _SingleValue:
    """One answer for each sequence: at its last step."""

    name = "SingleValue"

    @staticmethod
    def predict(activations, lengths, classifies, probabilities):
        last = select_last_activations(activations, lengths)
        if not classifies:
            return {PredictionKey.SCORES: array.squeeze(last, axis=[1])}
        if not probabilities:
            return {PredictionKey.CLASSES: math.argmax(last, axis=1)}
        share = softmax(last, name=PredictionKey.PROBABILITIES)
        return {PredictionKey.PROBABILITIES: share, PredictionKey.CLASSES: math.argmax(share, axis=1)}

    counted = staticmethod(lambda activations, labels, lengths: (select_last_activations(activations, lengths), labels))


class _MultipleValue:
    """An answer at each step."""

    name = "MultiValue"

    @staticmethod
    def predict(activations, lengths, classifies, probabilities):
        shape = array.shape(activations)
        flat = array.reshape(activations, [-1, shape[2]])

        def at_steps(values, key):
            return array.reshape(values, [shape[0], shape[1]], name=key)

        if not classifies:
            return {PredictionKey.SCORES: at_steps(array.squeeze(flat, axis=[1]), PredictionKey.SCORES)}
        if not probabilities:
            return {PredictionKey.CLASSES: at_steps(math.argmax(flat, axis=1), PredictionKey.CLASSES)}
        share = softmax(flat)
        classes = math.argmax(share, axis=1)
        told = array.reshape(share, shape, name=PredictionKey.PROBABILITIES)
        return {PredictionKey.PROBABILITIES: told, PredictionKey.CLASSES: at_steps(classes, PredictionKey.CLASSES)}

    counted = staticmethod(mask_activations_and_labels)


_KINDS = {PredictionType.SINGLE_VALUE: _SingleValue, PredictionType.MULTIPLE_VALUE: _MultipleValue}
_SETTINGS = optional(
    """context_feature_columns num_classes num_units cell_type optimizer learning_rate predict_probabilities momentum
    gradient_clipping_norm dropout_keep_probabilities model_dir feature_engineering_fn config""",
    cell_type="basic_rnn",
    optimizer="SGD",
    learning_rate=0.1,
    predict_probabilities=False,
    gradient_clipping_norm=5.0,
)


class DynamicRnnEstimator(BaseEstimator):
    """A recurrent network that classifies sequences or predicts numbers for them.

    `problem_type` is `tf.contrib.learn.ProblemType.CLASSIFICATION` (with `num_classes`) or `LINEAR_REGRESSION`;
    `prediction_type` 1 for an answer at the end of a sequence, 2 for one at each step. Features may have the lengths of
    sequences as "sequence_length" and the state to begin with as "rnn_cell_state_0" and so on, as predictions do.

    >>> column = tf.contrib.layers.real_valued_column("prices", dimension=2)
    >>> estimator = tf.contrib.learn.DynamicRnnEstimator(
    ...     tf.contrib.learn.ProblemType.LINEAR_REGRESSION, 1, [column], num_units=16, cell_type="gru")
    >>> estimator.fit(input_fn=input_fn, steps=100)
    """

    @takes(_SETTINGS)
    def __init__(self, problem_type, prediction_type, sequence_feature_columns, **given):
        self._classifies = problem_type == ProblemType.CLASSIFICATION
        if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
            raise ValueError(f"problem_type must be CLASSIFICATION or LINEAR_REGRESSION, not {problem_type}")
        if prediction_type not in _KINDS:
            raise ValueError(f"prediction_type must be SINGLE_VALUE or MULTIPLE_VALUE, not {prediction_type}")
        if self._classifies and not given["num_classes"]:
            raise ValueError("A classifier must be told num_classes")
        if given["predict_probabilities"] and not self._classifies:
            raise ValueError(f"predict_probabilities is for classifiers, not for problem_type {problem_type}")
        self._problem, self._kind, self._settings = problem_type, _KINDS[prediction_type], given
        self._sequence_columns = sequence_feature_columns
        self._feature_engineering_fn = given["feature_engineering_fn"]
        what = "Classifier" if self._classifies else "Regressor"
        self._name = f"{self._kind.name}DynamicRNN{what}"
        super().__init__(model_dir=given["model_dir"], config=given["config"])

    def _draw(self, features, labels, mode, config):
        given = self._settings
        with name_scope(self._name):
            lengths = features.get(RNNKeys.SEQUENCE_LENGTH_KEY)
            inputs = build_sequence_input(features, self._sequence_columns, given["context_feature_columns"])
            keep = given["dropout_keep_probabilities"] if mode == ModeKeys.TRAIN else None
            cell = construct_rnn_cell(given["num_units"], given["cell_type"], keep)
            activations, state = self._run(cell, inputs, features)
            with name_scope(f"{self._kind.name}Prediction"):
                how = self._classifies, given["predict_probabilities"]
                predictions = self._kind.predict(activations, lengths, *how)
            answers = dict(predictions)
            predictions |= {_state_name(i): part for i, part in enumerate(nest.flatten(state))}
            if mode == ModeKeys.INFER:
                return ModelFnOps(mode, predictions, output_alternatives=self._alternatives(answers))
            loss = self._loss(activations, labels, lengths)
            metrics = self._metrics_of(answers, labels, lengths)
            train_op = self._train_op(loss) if mode == ModeKeys.TRAIN else None
            return ModelFnOps(mode, predictions, loss, train_op, metrics, self._alternatives(answers))

    def _run(self, cell, inputs, features):
        """(activations at each step, last state)."""
        with name_scope("RNN"):
            first = None
            if _state_name(0) in features:
                count = len(nest.flatten(cell.state_size))
                parts = [features[_state_name(i)] for i in range(count)]
                first = nest.pack_sequence_as(cell.state_size, parts)
            # The loop runs over all steps; what counts of them is chosen afterwards.
            outputs, state = dynamic_rnn(cell, inputs, initial_state=first, dtype=dtypes.float32)
            units = self._settings["num_classes"] if self._classifies else 1
            return layers.fully_connected(outputs, units, activation_fn=None, trainable=True), state

    def _loss(self, activations, labels, lengths):
        with name_scope(f"{self._kind.name}Loss"):
            activations, labels = self._kind.counted(activations, labels, lengths)
            if self._classifies:
                each = sparse_softmax_cross_entropy_with_logits(
                    labels=math.cast(labels, dtypes.int64), logits=activations
                )
            else:
                wanted = array.reshape(labels, [-1, 1]) if labels.shape.rank == 1 else labels
                each = math.squared_difference(activations, math.cast(wanted, dtypes.float32))
            return math.reduce_mean(each, name="loss")

    def _metrics_of(self, answers, labels, lengths):
        if not self._classifies:
            return {}
        classes = answers[PredictionKey.CLASSES]
        if self._kind is _MultipleValue:
            classes, labels = mask_activations_and_labels(classes, labels, lengths)
        return {"accuracy": accuracy(labels=labels, predictions=classes)}

    def _alternatives(self, answers):
        if self._kind is _MultipleValue:
            return None
        return {"dynamic_rnn_output": (self._problem, answers)}

    def _train_op(self, loss):
        given = self._settings
        rate, optimizer = given["learning_rate"], given["optimizer"]
        if optimizer == "Momentum":
            if given["momentum"] is None:
                raise ValueError("The optimizer Momentum needs a momentum")
            optimizer = lambda learning_rate: MomentumOptimizer(learning_rate, given["momentum"])  # noqa: E731
        return layers.optimize_loss(
            loss,
            get_global_step(),
            learning_rate=rate,
            optimizer=optimizer,
            clip_gradients=given["gradient_clipping_norm"],
            summaries=layers.OPTIMIZER_SUMMARIES,
        )
