"""Models of series: what every model offers, and `SequentialTimeSeriesModel`, which goes through a series step by step."""

from __future__ import annotations

import abc
import collections

from everflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from everflow.contrib.timeseries.statistics import replicate_state
from everflow.feature_column.input_layer import input_layer
from everflow.framework import dtypes, nest
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant, placeholder
from everflow.ops.control_flow import while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables.scope import AUTO_REUSE, variable_scope

# loss: a scalar. end_state: the state after the batch. predictions: by name. prediction_times: `[batch, steps]`.
ModelOutputs = collections.namedtuple("ModelOutputs", ["loss", "end_state", "predictions", "prediction_times"])


class TimeSeriesModel(abc.ABC):
    """A model of series of `num_features` values a step.

    Args:
        num_features: How many values a step has.
        exogenous_feature_columns: Feature columns of what else is known of each step, predicted ones included.
        dtype: The type of values.
    """

    def __init__(self, num_features, exogenous_feature_columns=None, dtype=dtypes.float32):
        self.num_features = num_features
        self.dtype = dtype
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self._input_statistics = None
        self._graph_initialized = False
        self._stats_means = self._stats_sigmas = None

    @property
    def exogenous_feature_columns(self):
        """The feature columns of what else is known of each step."""
        return self._exogenous_feature_columns

    def generate(self, number_of_series, series_length, model_parameters=None, seed=None):
        """Series drawn from the model, where it can do so."""
        raise NotImplementedError(f"{type(self).__name__} does not draw series")

    def initialize_graph(self, input_statistics=None):
        """Makes what the model has once in a graph; to be called before anything else in it."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics is not None:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = math.sqrt(variances)

    def _scale_data(self, data):
        """Values less their mean, in their standard deviations."""
        return data if self._input_statistics is None else (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance):
        return (
            variance
            if self._input_statistics is None
            else variance / self._input_statistics.overall_feature_moments.variance
        )

    def _scale_back_data(self, data):
        return data if self._input_statistics is None else data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance):
        return (
            variance
            if self._input_statistics is None
            else variance * self._input_statistics.overall_feature_moments.variance
        )

    def _check_graph_initialized(self):
        if not self._graph_initialized:
            raise ValueError(f"{type(self).__name__}.initialize_graph() has to be called before other methods")

    def define_loss(self, features, mode):
        """ModelOutputs of a batch of series that begin anew."""
        self._check_graph_initialized()
        start = self.get_start_state()
        batch_size = array.shape(features[TrainEvalFeatures.TIMES])[0]
        return self.get_batch_loss(features, mode, replicate_state(start, batch_size))

    @abc.abstractmethod
    def get_start_state(self):
        """The state before anything was seen, of one series: a structure of tensors."""

    @abc.abstractmethod
    def get_batch_loss(self, features, mode, state):
        """ModelOutputs of a batch of series that go on from states."""

    @abc.abstractmethod
    def predict(self, features):
        """Predictions by name, of the features' times and states."""

    def _get_exogenous_embedding_shape(self):
        """The static shape of what columns make of a step."""
        if not self._exogenous_feature_columns:
            return (0,)
        with name_scope("exogenous_shape"):
            keys = {key for column in self._exogenous_feature_columns for key in column._parse_example_spec}
            specs = {k: v for column in self._exogenous_feature_columns for k, v in column._parse_example_spec.items()}
            fakes = {key: placeholder(shape=[None, *specs[key].shape], dtype=specs[key].dtype) for key in keys}
            return input_layer(fakes, self._exogenous_feature_columns).shape[1:]

    def _process_exogenous_features(self, times, features):
        """`[batch, steps, size]`: what the columns make of the features of each step; size is 0 without columns."""
        if not self._exogenous_feature_columns:
            return array.zeros(array.concat([array.shape(times), constant([0])], axis=0), dtype=self.dtype)
        # Columns look at one row after the other: the batch's steps in a row.
        embedded = input_layer(
            {name: _in_a_row(value) for name, value in _further(features).items()}, self._exogenous_feature_columns
        )
        found = array.reshape(embedded, array.concat([array.shape(times), array.shape(embedded)[1:]], axis=0))
        found.set_shape(times.shape.concatenate(embedded.shape[1:]))
        return math.cast(found, dtype=self.dtype)


def _further(features):
    """Features besides times, values and states."""
    others = (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)
    return {name: value for name, value in features.items() if name not in others}


def _in_a_row(value):
    """`[batch, steps, ...]` as `[batch * steps, ...]`, with a last dimension that columns can look at."""
    shape = array.shape(value)
    rows = array.reshape(value, array.concat([[shape[0] * shape[1]], shape[2:]], axis=0))
    return rows[:, None] if rows.shape.ndims == 1 else rows


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that goes through a series step by step: a program's own class says what happens at a step.

    Args:
        train_output_names: What `_filtering_step` puts into its predictions besides the loss.
        predict_output_names: What `_prediction_step` predicts.
        num_features: How many values a step has.
        normalize_features: Whether values are scaled by their moments, and `_scale_back_predictions` is asked.
        dtype: The type of values.
        exogenous_feature_columns: Feature columns of what else is known of each step.
        exogenous_update_condition: `fn(times, features)` that says whether a step's further features count; all do if None.
        static_unrolling_window_size_threshold: Series of fewer steps are drawn step by step, rather than as a loop.
    """

    def __init__(
        self,
        train_output_names,
        predict_output_names,
        num_features,
        normalize_features=False,
        dtype=dtypes.float32,
        exogenous_feature_columns=None,
        exogenous_update_condition=None,
        static_unrolling_window_size_threshold=None,
    ):
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._exogenous_update_condition = exogenous_update_condition
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold
        self._normalize_features = normalize_features

    def _scale_back_predictions(self, predictions):
        """Predictions in the units of the data; asked only where features are normalized."""
        raise NotImplementedError(f"{type(self).__name__} normalizes features and has no _scale_back_predictions")

    @abc.abstractmethod
    def _filtering_step(self, current_times, current_values, state, predictions):
        """(state after values were seen, predictions with a `"loss"` `[batch]` and the train outputs)."""

    @abc.abstractmethod
    def _prediction_step(self, current_times, state):
        """(state at these times, predictions by name)."""

    @abc.abstractmethod
    def _imputation_step(self, current_times, state):
        """The state brought over a gap, to just before these times."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        """The state after a step's further features were seen."""

    def _loss_additions(self, times, values, mode):
        """What is added to the loss of a batch."""
        return 0.0

    def _window_initializer(self, times, state):
        """Called before a batch is gone through: a place to compute what its steps share."""

    def get_batch_loss(self, features, mode, state):
        loss, states, predictions = self.per_step_batch_loss(features, mode, state)
        return ModelOutputs(
            loss=loss,
            end_state=nest.map_structure(lambda steps: steps[:, -1], states),
            predictions={**predictions, "observed": features[TrainEvalFeatures.VALUES]},
            prediction_times=features[TrainEvalFeatures.TIMES],
        )

    def _apply_exogenous_update(self, current_times, step_number, state, raw_features, embedded_exogenous_regressors):
        """The state after a step's further features, for the series whose condition holds."""
        current = embedded_exogenous_regressors[:, step_number, :]
        if self._exogenous_update_condition is None:
            return self._exogenous_input_step(current_times, current, state)
        after = self._exogenous_input_step(current_times, current, state)
        here = {name: value[:, step_number] for name, value in raw_features.items()}
        parts = zip(nest.flatten(after), nest.flatten(state), strict=True)
        return nest.pack_sequence_as(
            state,
            [array.where(self._exogenous_update_condition(current_times, here), new, old) for new, old in parts],
        )

    def per_step_batch_loss(self, features, mode, state):
        """(loss of the batch, states of all steps, {name: `[batch, steps, ...]`} of train outputs)."""
        self._check_graph_initialized()
        times, values = features[TrainEvalFeatures.TIMES], features[TrainEvalFeatures.VALUES]
        if self._normalize_features:
            values = self._scale_data(values)
        exogenous = self._exogenous(times, features)

        def step(step_number, current_times, state):
            state = self._imputation_step(current_times, state)
            current_values = values[:, step_number, :]
            state = exogenous(current_times, step_number, state)
            state, predictions = self._prediction_step(current_times, state)
            return self._filtering_step(current_times, current_values, state, predictions)

        states, outputs = self._state_update_loop(times, state, step, ["loss", *self._train_output_names])
        loss = math.reduce_sum(outputs.pop("loss")) / math.cast(math.reduce_prod(array.shape(times)), dtype=self.dtype)
        loss += self._loss_additions(times, values, mode)
        return loss, states, self._in_units(outputs)

    def _exogenous(self, times, features):
        """`fn(times, step_number, state)` that brings in further features where there are any."""
        if not self._exogenous_feature_columns:
            return lambda current_times, step_number, state: state
        embedded = self._process_exogenous_features(times, features)
        raw = _further(features)
        return lambda current_times, step_number, state: self._apply_exogenous_update(
            current_times, step_number, state, raw, embedded
        )

    def _in_units(self, outputs):
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def predict(self, features):
        self._check_graph_initialized()
        times, state = features[PredictionFeatures.TIMES], features[PredictionFeatures.STATE_TUPLE]
        exogenous = self._exogenous(times, features)

        def step(step_number, current_times, state):
            state = self._imputation_step(current_times, state)
            state = exogenous(current_times, step_number, state)
            return self._prediction_step(current_times, state)

        _, outputs = self._state_update_loop(times, state, step, self._predict_output_names)
        return self._in_units(outputs)

    def _state_update_loop(self, times, state, state_update_fn, outputs):
        """Goes through the steps of `times`: (states of all steps, outputs of all steps by name), `[batch, steps, ...]`.

        `state_update_fn(step_number, times, state)` gives the next state and a dictionary of outputs.
        """
        self._window_initializer(times, state)
        steps = array.shape(times)[1]
        first = array.zeros([], dtype=dtypes.int32)
        known, limit = times.shape.size(1), self._static_unrolling_window_size_threshold
        unrolled = known is not None and limit is not None and known <= limit

        def kept(dtype):
            return _Written() if unrolled else TensorArray(dtype=dtype, size=steps)

        # States are flat in the loop: a step may give them in another kind of sequence than it got them in.
        flat_state = nest.flatten(state)
        state_arrays = [kept(part.dtype) for part in flat_state]
        output_arrays = [kept(self.dtype) for _ in outputs]

        def step(step_number, flat_state, state_arrays, output_arrays):
            # Variables that steps make are those of the first.
            with variable_scope("state_update_step", reuse=AUTO_REUSE):
                current = nest.pack_sequence_as(state, flat_state)
                new_state, found = state_update_fn(step_number, times[:, step_number], current)
                new_flat = nest.flatten(new_state)
                # What a step computes is as large as what it began with.
                for old, new in zip(flat_state, new_flat, strict=True):
                    new.set_shape(old.shape)
                output_arrays = _written(output_arrays, step_number, [found[name] for name in outputs])
                state_arrays = _written(state_arrays, step_number, new_flat)
                return step_number + 1, new_flat, state_arrays, output_arrays

        if unrolled:
            for number in range(known):
                _, flat_state, state_arrays, output_arrays = step(
                    constant(number), flat_state, state_arrays, output_arrays
                )
        else:
            _, _, state_arrays, output_arrays = while_loop(
                lambda step_number, *_: step_number < steps, step, [first, flat_state, state_arrays, output_arrays]
            )
        found = [_steps_second(written, times) for written in output_arrays]
        states = [_steps_second(written, times) for written in state_arrays]
        return nest.pack_sequence_as(state, states), dict(zip(outputs, found, strict=True))


class _Written:
    """What steps gave, where they are drawn one by one: a TensorArray's place without one."""

    def __init__(self, values=()):
        self.values = values

    def write(self, step_number, value):
        return _Written((*self.values, value))


def _written(arrays, step_number, values):
    return [written.write(step_number, value) for written, value in zip(arrays, values, strict=True)]


def _steps_second(written, times):
    """What was written as `[batch, steps, ...]`, the sizes of which are those of `times`."""
    if isinstance(written, _Written):
        return array.stack(written.values, axis=1)
    stacked = written.stack()
    found = array.transpose(stacked, array.concat([[1, 0], math.range(2, array.rank(stacked))], axis=0))
    found.set_shape(times.shape.concatenate(stacked.shape[2:]))
    return found
