"""What estimators of series end in: losses, states as metrics, predictions, and what is exported."""

from __future__ import annotations

import re

from everflow import metrics
from everflow.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.io import summaries
from everflow.ops.variables import assign as state_ops
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.scope import variable_scope
from everflow.ops.variables.variable import VariableV1, trainable_variables

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class _NoStatePredictOutput(PredictOutput):
    """An output whose signature takes no state: a series is looked at from its beginning."""

    def as_signature_def(self, receiver_tensors):
        return super().as_signature_def(
            {key: value for key, value in receiver_tensors.items() if not key.startswith(State.STATE_PREFIX)}
        )


class TimeSeriesRegressionHead:
    """Makes EstimatorSpecs of a model of series.

    Args:
        model: The model.
        state_manager: Where states come from.
        optimizer: What trains it.
        input_statistics_generator: Gathers statistics of the series; None for none.
        name: The name of the scope, `"head"` by default.
    """

    def __init__(self, model, state_manager, optimizer, input_statistics_generator=None, name=None):
        self.model, self.state_manager = model, state_manager
        self.optimizer, self.input_statistics_generator = optimizer, input_statistics_generator
        self._name = name

    name = property(lambda self: self._name, doc="The name of the scope.")
    logits_dimension = property(lambda self: None, doc="Not asked of these heads.")

    def create_loss(self, features, mode, logits=None, labels=None):
        """ModelOutputs of a batch, under the scope of the model."""
        outputs = self.state_manager.define_loss(self.model, features, mode)
        summaries.scalar("loss", outputs.loss)
        return outputs

    def create_estimator_spec(self, features, mode, labels=None):
        """The EstimatorSpec of a batch for a mode; labels must not be given."""
        if labels:
            raise ValueError(f"A series has no labels besides its values: {labels} was given")
        with name_scope(self._name, "head"):
            features = {name: self._convert_feature_to_tensor(name, value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            # Managers ask the model for its states.
            self.state_manager.initialize_graph(self.model, input_statistics=statistics)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                _check_train_eval_features(features, self.model)
                return self._train_ops(features) if mode == ModeKeys.TRAIN else self._evaluate_ops(features)
            if mode != ModeKeys.PREDICT:
                raise ValueError(f"{mode!r} is none of tf.estimator.ModeKeys")
            if _VALUES in features:
                return self._serving_ops(features)
            features = self._gather_state(features)
            self._check_predict_features(features)
            return self._predict_ops(features)

    def _scope(self):
        return variable_scope("model", use_resource=True)

    def _train_ops(self, features):
        with self._scope():
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, var_list=trainable_variables(), global_step=get_global_step())
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.TRAIN, predictions=outputs.predictions, train_op=train_op)

    def _evaluate_ops(self, features):
        with self._scope():
            outputs = self.create_loss(features, ModeKeys.EVAL)
        found = {name: _identity_metric_single(name, value) for name, value in outputs.predictions.items()}
        found[FilteringResults.TIMES] = _identity_metric_single(FilteringResults.TIMES, outputs.prediction_times)
        found[FilteringResults.STATE_TUPLE] = _identity_metric_nested(FilteringResults.STATE_TUPLE, outputs.end_state)
        found["average_loss"] = metrics.mean(outputs.loss, name="average_loss")
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.EVAL, eval_metric_ops=found, predictions={})

    def _predict_ops(self, features):
        with self._scope():
            found = self.model.predict(features=features)
        found[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(predictions=found, mode=ModeKeys.PREDICT)

    def _serving_ops(self, features):
        """Three signatures: predictions from a state, a state brought forward, and a state from nothing."""
        gathered = self._gather_state(features)
        predicted_from = {name: value for name, value in gathered.items() if name != _VALUES}
        with self._scope():
            predictions = self.model.predict(features=predicted_from)
        with variable_scope("model", use_resource=True, reuse=True):
            filtered = self.create_loss(gathered, ModeKeys.EVAL)
        with variable_scope("model", use_resource=True, reuse=True):
            cold = {name: value for name, value in gathered.items() if name != State.STATE_TUPLE}
            begun = self.model.define_loss(features=cold, mode=ModeKeys.EVAL)
        return EstimatorSpec(
            mode=ModeKeys.PREDICT,
            export_outputs={
                SavedModelLabels.PREDICT: PredictOutput(predictions),
                SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
                SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(state_to_dictionary(begun.end_state)),
            },
            predictions={},  # signatures are all that is asked of it
        )

    def _convert_feature_to_tensor(self, name, value):
        """Values are of the model's type, times int64; states are structures."""
        if name == State.STATE_TUPLE:
            return value
        dtype = {_TIMES: dtypes.int64, _VALUES: self.model.dtype}.get(name)
        value = convert_to_tensor(value)
        return value if dtype is None else math.cast(value, dtype)

    def _gather_state(self, features):
        """Features with the parts of a state, which come one by one where they are fed, put together."""
        numbered = re.compile(rf"^{State.STATE_PREFIX}_(\d+)$")
        parts = sorted((int(m[1]), name) for name in features if (m := numbered.match(name)))
        if not parts:
            return features
        if [number for number, _ in parts] != list(range(len(parts))):
            raise ValueError(f"Parts of the state are numbered from 0 on; there are {[name for _, name in parts]}")
        gathered = {name: value for name, value in features.items() if not numbered.match(name)}
        gathered[State.STATE_TUPLE] = nest.pack_sequence_as(
            self.model.get_start_state(), [features[name] for _, name in parts]
        )
        return gathered

    def _check_predict_features(self, features):
        for name in (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE):
            if name not in features:
                raise ValueError(f"A prediction needs a feature '{name}'; there are {sorted(features)}")
        times = features[PredictionFeatures.TIMES]
        times.shape.assert_is_compatible_with([None, None])
        _check_feature_shapes_compatible_with(
            features, PredictionFeatures.TIMES, times, ignore={PredictionFeatures.STATE_TUPLE}
        )


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head for models that look at a window before each prediction: features bring it along, and no state is kept."""

    def _check_predict_features(self, features):
        for name in (_TIMES, _VALUES):
            if name not in features:
                raise ValueError(f"A prediction needs a feature '{name}'; there are {sorted(features)}")

    def _evaluate_ops(self, features):
        spec = super()._evaluate_ops(features)
        # A state would invite to predict from it.
        del spec.eval_metric_ops[State.STATE_TUPLE]
        return spec

    def _serving_ops(self, features):
        """Predictions of the times that have no values, from a state that those before them give."""
        seen_length = array.shape(features[_VALUES])[1]
        seen, following = {}, {}
        for name, value in features.items():
            if name.startswith(State.STATE_PREFIX):
                continue  # A series begins anew.
            seen[name] = value[:, :seen_length]
            if name != _VALUES:
                following[name] = value[:, seen_length:]
        with self._scope():
            state = self.create_loss(seen, ModeKeys.EVAL).end_state
        with variable_scope("model", use_resource=True, reuse=True):
            following[State.STATE_TUPLE] = state
            predictions = self.model.predict(features=following)
        return EstimatorSpec(
            mode=ModeKeys.PREDICT,
            export_outputs={SavedModelLabels.PREDICT: _NoStatePredictOutput(predictions)},
            predictions={**predictions, PredictionResults.TIMES: following[_TIMES]},
        )


def _check_feature_shapes_compatible_with(features, compatible_with_name, compatible_with_value, ignore=None):
    """ValueError where features have another batch or other steps than one of them."""
    shape = compatible_with_value.shape
    for name, value in features.items():
        if ignore and name in ignore:
            continue
        begins = value.shape.with_rank_at_least(shape.ndims)[: shape.ndims]
        if not begins.is_compatible_with(shape):
            raise ValueError(
                f"Feature '{name}' of shape {value.shape} doesn't go with '{compatible_with_name}' of shape {shape}: the first dimensions are the batch and its steps"
            )


def _check_train_eval_features(features, model):
    """ValueError where times or values are missing or of odd shapes."""
    for name in (_TIMES, _VALUES):
        if name not in features:
            raise ValueError(f"A series needs a feature '{name}'; there are {sorted(features)}")
    times, values = features[_TIMES], features[_VALUES]
    if not times.shape.is_compatible_with([None, None]):
        raise ValueError(f"'{_TIMES}' has shape [batch, steps], not {times.shape}")
    if not values.shape.is_compatible_with([None, None, model.num_features]):
        raise ValueError(f"'{_VALUES}' has shape [batch, steps, {model.num_features}], not {values.shape}")
    _check_feature_shapes_compatible_with(features, _TIMES, times, ignore={State.STATE_TUPLE})


def _identity_metric_single(name, input_tensor):
    """A metric that is the last batch's value itself: (value, update op)."""
    kept = VariableV1(
        array.zeros([], dtype=input_tensor.dtype),
        name=f"{name}_identity_metric",
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
    )
    update = state_ops.assign(kept, input_tensor, validate_shape=False)
    # The shape changes with the series.
    return kept.value(), update


def _identity_metric_nested(name, input_tensors):
    """The same of a structure of tensors; the value has the structure."""
    metrics_of_parts = [
        _identity_metric_single(f"{name}_{number}", part) for number, part in enumerate(nest.flatten(input_tensors))
    ]
    values = nest.pack_sequence_as(input_tensors, [value for value, _ in metrics_of_parts])
    return values, group(*(update for _, update in metrics_of_parts))


def state_to_dictionary(state_tuple):
    """A state as a flat dictionary, for signatures."""
    return {f"{State.STATE_PREFIX}_{number:02d}": part for number, part in enumerate(nest.flatten(state_tuple))}
