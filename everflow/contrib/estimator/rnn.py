"""Estimators over sequences of features: a recurrent network reads them, and the head gets its last output."""

from __future__ import annotations

from everflow import summary
from everflow.contrib.estimator.extenders import clip_gradients_by_norm
from everflow.estimator.canned.classification_heads import binary_or_multi_class_head
from everflow.estimator.canned.dnn import assert_features_are_dict, default_partitioner
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.feature_column.input_layer import input_layer
from everflow.feature_column.sequence import sequence_input_layer
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.layers import dense
from everflow.losses import Reduction
from everflow.ops import array, math
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, optional, takes
from everflow.rnn import rnn_cell
from everflow.rnn.dynamic import dynamic_rnn

# Of optimizers that are given by name.
_LEARNING_RATE, _CLIP_NORM = 0.05, 5.0

_CELLS = {"basic_rnn": rnn_cell.BasicRNNCell, "lstm": rnn_cell.BasicLSTMCell, "gru": rnn_cell.GRUCell}
# Says that the argument was not given.
USE_DEFAULT = object()


def _cell_function(num_units, cell_type):
    """`fn(mode)` that makes a cell of layers of so many units each."""
    cell_type = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
    cls = _CELLS.get(cell_type, cell_type)
    if not (isinstance(cls, type) and issubclass(cls, rnn_cell.RNNCell)):
        raise TypeError(f"cell_type must be one of {sorted(_CELLS)} or a class of cells, given: {cell_type}")

    def make(mode):
        cells = [cls(num_units=units) for units in num_units]
        return cells[0] if len(cells) == 1 else rnn_cell.MultiRNNCell(cells)

    return make


def _with_context(context, sequence):
    """A sequence with what is the same at all its steps beside each."""
    checks = []
    for tensor, rank, what in (
        (sequence, 3, "sequence_input must have rank 3"),
        (context, 2, "context_input must have rank 2"),
    ):
        checks.append(check_shapes.assert_rank(tensor, rank, message=what, data=[array.shape(tensor)]))
        checks.append(check_shapes.assert_type(tensor, dtypes.float32))
    with control_dependencies(checks):
        steps = array.shape(sequence)[1]
        tiled = array.tile(array.expand_dims(context, 1), array.concat([[1], [steps], [1]], 0))
    return array.concat([sequence, tiled], 2)


def _last_outputs(outputs, lengths):
    """The output of each example at its last step."""
    with name_scope("select_last_activations", values=[outputs, lengths]):
        shape = array.shape(outputs)
        batch, steps, width = shape[0], shape[1], shape[2]
        last = math.to_int64(math.range(batch) * steps) + lengths - 1
        selected = array.gather(array.reshape(outputs, [batch * steps, width]), last)
        selected.set_shape([None, outputs.shape.size(2)])
        return selected


def _model_fn(
    features, labels, mode, head, cell_fn, sequence_columns, context_columns, optimizer, input_layer_partitioner, config
):
    assert_features_are_dict(features)
    with variable_scope("rnn", values=tuple(features.values()), partitioner=default_partitioner(config)):
        partitioner = input_layer_partitioner or default_partitioner(config)
        with variable_scope("sequence_input_layer", values=tuple(features.values()), partitioner=partitioner):
            inputs, lengths = sequence_input_layer(features, sequence_columns)
            summary.histogram("sequence_length", lengths)
            if context_columns:
                inputs = _with_context(input_layer(features, context_columns), inputs)
        outputs, _ = dynamic_rnn(cell_fn(mode), inputs, sequence_length=lengths, dtype=dtypes.float32)
        outputs = _last_outputs(outputs, lengths)
        with variable_scope("logits", values=(outputs,)):
            logits = dense(outputs, units=head.logits_dimension)
        array.sequence_mask(lengths)
        if isinstance(optimizer, str):
            made = get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
            optimizer = clip_gradients_by_norm(made, _CLIP_NORM)
        else:
            optimizer = get_optimizer_instance(optimizer)
        return head.create_estimator_spec(features, mode, labels=labels, optimizer=optimizer, logits=logits)


_NETWORK = optional(
    """context_feature_columns num_units cell_type rnn_cell_fn model_dir optimizer input_layer_partitioner config""",
    cell_type=USE_DEFAULT,
    optimizer="Adagrad",
)
_CLASSES = {"n_classes": 2, "weight_column": None, "label_vocabulary": None}
_REDUCTION = {"loss_reduction": Reduction.SUM_OVER_BATCH_SIZE}


class RNNEstimator(Estimator):
    """A recurrent network for any head.

    `num_units` has the width of each layer, `cell_type` is "basic_rnn", "lstm", "gru" or a class of cells; or
    `rnn_cell_fn(mode)` makes the cell.
    """

    @takes(inserted(_NETWORK, rnn_cell_fn={"return_sequences": False}))
    def __init__(self, head, sequence_feature_columns, **given):
        if given.pop("return_sequences"):
            raise ValueError("Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.")
        self._set_up(head, sequence_feature_columns, **given)

    def _set_up(
        self, head, sequence_columns, context_feature_columns, num_units, cell_type, rnn_cell_fn, model_dir, **given
    ):
        if rnn_cell_fn and (num_units or cell_type is not USE_DEFAULT):
            raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")

        def model_fn(features, labels, mode, config):
            cell_fn = rnn_cell_fn or _cell_function(num_units, cell_type)
            columns = tuple(sequence_columns or ()), tuple(context_feature_columns or ())
            return _model_fn(features, labels, mode, head, cell_fn, *columns, **{**given, "config": config})

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=given["config"])


class RNNClassifier(RNNEstimator):
    """A recurrent network that tells classes of sequences apart."""

    @takes(inserted(_NETWORK, model_dir=_CLASSES, optimizer=_REDUCTION))
    def __init__(self, sequence_feature_columns, **given):
        head = binary_or_multi_class_head(*(given.pop(name) for name in [*_CLASSES, *_REDUCTION]))
        self._set_up(head, sequence_feature_columns, **given)
