"""Autoregression: a window of values predicts the next one, by a dense network or by two LSTMs."""

from __future__ import annotations

import math as numbers

import numpy as np

from everflow.contrib.rnn.blocks import LSTMBlockFusedCell
from everflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from everflow.contrib.timeseries.model import ModelOutputs, TimeSeriesModel
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.keras.engine.sequential import Sequential
from everflow.keras.engine.training import Model
from everflow.keras.layers.core import Dense, Flatten
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks.values import assert_equal, assert_greater_equal
from everflow.ops.control_flow import while_loop
from everflow.ops.nn.activations import relu
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, get_variable_scope, variable_scope

# Variances below this are taken for it: a loss must not divide by zero.
_LEAST_VARIANCE = 1e-5


class FlatPredictionModel(Model):
    """Dense layers over both windows at once."""

    def __init__(self, num_features, input_window_size, output_window_size, hidden_layer_sizes=None):
        super().__init__()
        self._input_flatten = Flatten()
        self._output_flatten = Flatten()
        self._hidden = (
            Sequential([Dense(size, activation=relu) for size in hidden_layer_sizes]) if hidden_layer_sizes else None
        )
        self._mean_transform = Dense(num_features * output_window_size, name="predicted_mean")
        self._covariance_transform = Dense(num_features * output_window_size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features, output_window_features):
        if input_window_features.shape.size(1) == 0:
            activations = self._output_flatten(output_window_features)
        else:
            seen = self._input_flatten(input_window_features)
            activations = array.concat([seen, self._output_flatten(output_window_features)], 1)
        if self._hidden is not None:
            activations = self._hidden(activations)
        mean = array.reshape(self._mean_transform(activations), self._prediction_shape)
        log_variance = self._covariance_transform(activations)
        return {"mean": mean, "covariance": array.reshape(math.exp(log_variance), self._prediction_shape)}


class LSTMPredictionModel(Model):
    """An LSTM reads the input window, another one goes on from its state over the output window."""

    def __init__(self, num_features, input_window_size, output_window_size, num_units=128):
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def call(self, input_window_features, output_window_features):
        # These cells have time first.
        seen, known = (array.transpose(v, [1, 0, 2]) for v in (input_window_features, output_window_features))
        _, state = self._encoder(seen, dtype=seen.dtype)
        outputs, _ = self._decoder(known, initial_state=state)
        outputs = array.transpose(outputs, [1, 0, 2])
        mean = self._mean_transform(outputs)
        return {"mean": mean, "covariance": math.exp(self._covariance_transform(outputs))}


class ARModel(TimeSeriesModel):
    """A window of `input_window_size` steps predicts the `output_window_size` steps after it.

    The network also sees where in its periods each step is: a number from 0 up to 1 in one of `num_time_buckets` slots.

    Args:
        periodicities: The lengths of periods in the series, an integer or a list of them; None for none.
        input_window_size: How many steps are looked at.
        output_window_size: How many steps are predicted from them.
        num_features: How many values a step has.
        prediction_model_factory: Makes the network from `num_features`, `input_window_size` and `output_window_size`.
        num_time_buckets: Into how many slots a period is divided.
        loss: `NORMAL_LIKELIHOOD_LOSS` or `SQUARED_LOSS`.
        exogenous_feature_columns: Feature columns of what else is known of each step.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities,
        input_window_size,
        output_window_size,
        num_features,
        prediction_model_factory=FlatPredictionModel,
        num_time_buckets=10,
        loss=NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns=None,
    ):
        super().__init__(num_features, exogenous_feature_columns)
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        if periodicities is None:
            periodicities = []
        self._periods = list(periodicities) if isinstance(periodicities, (list, tuple)) else [periodicities]
        if any(period <= 0 for period in self._periods):
            raise ValueError(f"Periods are positive numbers of steps, not {self._periods}")
        if not self._periods and not input_window_size and not exogenous_feature_columns:
            raise ValueError("With neither periods nor an input window nor features there is nothing to predict from")
        self._buckets = num_time_buckets
        self._prediction_model = None

    def initialize_graph(self, input_statistics=None):
        super().initialize_graph(input_statistics=input_statistics)
        self._prediction_model = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self):
        window = self.input_window_size
        return (
            array.zeros([window], dtype=dtypes.int64),
            array.zeros([window, self.num_features], dtype=self.dtype),
            array.zeros([window, *self._get_exogenous_embedding_shape()], dtype=self.dtype),
        )

    def random_model_parameters(self, seed=None):
        """No parameters: this model draws no series."""

    def prediction_ops(self, times, values, exogenous_regressors):
        """{"mean", "covariance"} of the output window, `[batch, output_window_size, num_features]`.

        `values` are those of the input window, scaled; times and further features are of both windows.
        """
        times.shape.assert_is_compatible_with([None, self.window_size])
        batch_size = array.shape(times)[0]
        sizes = [self.input_window_size, self.output_window_size]
        inputs, outputs = [], []
        if self._periods:
            slots = self._compute_time_features(times)
            slots = array.reshape(slots, [batch_size, self.window_size, len(self._periods) * self._buckets])
            before, after = array.split(slots, sizes, axis=1)
            inputs.append(before)
            outputs.append(after)
        if self.input_window_size:
            seen = array.slice_(values, [0, 0, 0], [-1, self.input_window_size, -1])
            inputs.append(array.reshape(seen, [batch_size, self.input_window_size, self.num_features]))
        if exogenous_regressors.shape.size(2):
            before, after = array.split(exogenous_regressors, sizes, axis=1)
            inputs.append(before)
            outputs.append(after)
        inputs = array.concat(inputs, axis=2) if inputs else array.zeros([batch_size, 0, 0], dtype=self.dtype)
        outputs = (
            array.concat(outputs, axis=2)
            if outputs
            else array.zeros([batch_size, self.output_window_size, 0], dtype=self.dtype)
        )
        for features in (inputs, outputs):
            features.set_shape([times.shape.size(0), None, None])
        return self._output_window_predictions(inputs, outputs)

    def _output_window_predictions(self, input_window_features, output_window_features):
        # The slash makes the scope's name absolute: a checkpoint has the network's variables under it, whatever the
        # head's scope is called.
        with variable_scope(get_variable_scope().name + "/"):
            return self._prediction_model(input_window_features, output_window_features)

    def _compute_time_features(self, time):
        """`[batch, steps, periods, buckets]`: how far into its slot a step is, zero in all other slots."""
        batch_size = array.shape(time)[0]
        periods = constant(self._periods, shape=[1, 1, len(self._periods), 1], dtype=time.dtype)
        time = array.reshape(time, [batch_size, -1, 1, 1])
        # TensorFlow's graph has this quotient, too, which nothing uses.
        time / self._periods
        within = math.cast(time % periods, self.dtype) * self._buckets / math.cast(periods, self.dtype)
        slots = array.reshape(math.range(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets])
        into = relu(within - slots)
        return array.where_v2(into < 1.0, into, array.zeros_like(into))

    def loss_op(self, targets, prediction_ops):
        """The loss of a window's predictions: for each value of it, on average."""
        mean = prediction_ops["mean"]
        if self.loss == self.NORMAL_LIKELIHOOD_LOSS:
            total = -math.reduce_sum(self._log_likelihood(targets, prediction_ops))
        elif self.loss == self.SQUARED_LOSS:
            total = math.reduce_sum(math.squared_difference(mean, targets))
        else:
            raise ValueError(f"loss is {self.SQUARED_LOSS!r} or {self.NORMAL_LIKELIHOOD_LOSS!r}, not {self.loss!r}")
        return total / math.cast(math.reduce_prod(array.shape(targets)), total.dtype)

    def _log_likelihood(self, targets, prediction_ops):
        """Of each value, under a normal distribution."""
        sigma = math.sqrt(math.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
        return _normal_log_prob(prediction_ops["mean"], sigma, targets)

    def _process_exogenous_features(self, times, features):
        embedded = super()._process_exogenous_features(times, features)
        steps = assert_equal(array.shape(times)[1], array.shape(embedded)[1])
        with control_dependencies([steps]):
            return array.identity(embedded)

    def predict(self, features):
        """Means and covariances of the features' times, window after window: predictions are taken for what was seen."""
        times = math.cast(features[PredictionFeatures.TIMES], dtypes.int32)
        exogenous = self._process_exogenous_features(
            times,
            {k: v for k, v in features.items() if k not in (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE)},
        )
        batch_size, steps = array.shape(times)[0], array.shape(times)[1]
        windows = (steps + self.output_window_size - 1) // self.output_window_size
        # The last window may go beyond what is asked for.
        beyond = windows * self.output_window_size - steps
        padded_times = array.pad(times, [[0, 0], [0, beyond]])
        padded_exogenous = array.pad(exogenous, [[0, 0], [0, beyond], [0, 0]])
        first = self._first_window(padded_times, padded_exogenous, features[PredictionFeatures.STATE_TUPLE])
        output = self.output_window_size
        # A squared loss teaches nothing of covariances.
        covariances = 0.0 if self.loss == self.SQUARED_LOSS else TensorArray(dtype=self.dtype, size=windows)
        means = TensorArray(dtype=self.dtype, size=windows)

        def one_window(number, times, values, exogenous, means, covariances):
            found = self.prediction_ops(times, values, exogenous)
            following = output * math.minimum(number + 1, windows - 1)
            times, values, exogenous = self._next_window(
                (times, values, exogenous), found["mean"], padded_times, padded_exogenous, following
            )
            # As long as before: what is left of the input window, and what was predicted.
            for part, before in zip((times, values, exogenous), first, strict=True):
                part.set_shape(np.shape(before) if isinstance(before, float) else before.shape)
            means = means.write(number, found["mean"])
            if isinstance(covariances, TensorArray):
                covariances = covariances.write(number, found["covariance"])
            return number + 1, times, values, exogenous, means, covariances

        _, _, _, _, means, covariances = while_loop(
            lambda number, *_: number < windows,
            one_window,
            [0, *first, means, covariances],
        )

        def in_a_row(stacked):
            length = windows * output
            rows = array.transpose(stacked.stack(), [1, 0, 2, 3])
            return array.reshape(rows, array.stack([batch_size, length, -1]))[:, :steps, :]

        mean = in_a_row(means)
        covariance = in_a_row(covariances) if isinstance(covariances, TensorArray) else array.ones_like(mean)
        return {"mean": self._scale_back_data(mean), "covariance": self._scale_back_variance(covariance)}

    def _first_window(self, times, exogenous, state):
        """(times, values, further features) that the first prediction is made from: the state's, and what is asked for."""
        state_times, state_values, state_exogenous = state
        state_times = math.cast(state_times, dtypes.int32)
        window, output = self.input_window_size, self.output_window_size
        first_times, first_exogenous = times[:, :output], exogenous[:, :output, :]
        if not window:
            return first_times, 0.0, first_exogenous
        first_times = array.concat([state_times[:, -window:], first_times], 1)
        values_size, times_size = array.shape(state_values)[1], array.shape(state_times)[1]
        with control_dependencies([assert_greater_equal(values_size, window), assert_equal(values_size, times_size)]):
            seen = state_values[:, -window:, :]
            further = array.concat([state_exogenous[:, -window:, :], first_exogenous[:, :, :]], 1)
        return first_times, seen, further

    def _next_window(self, current, predicted, all_times, all_exogenous, following):
        """(times, values, further features) of the window whose predictions begin at step `following`."""
        times, values, exogenous = current
        window, output = self.input_window_size, self.output_window_size
        if window > output:
            values = array.concat([values[:, output:, :], predicted], 1)
            exogenous = array.concat([exogenous[:, output:, :], all_exogenous[:, following : following + output, :]], 1)
            times = array.concat([times[:, output:], all_times[:, following : following + output]], 1)
            return times, values, exogenous
        # Nothing is left of what was seen; without an input window no values are looked at.
        values = predicted[:, -window:, :] if window else values
        exogenous = all_exogenous[:, following - window : following + output, :]
        return all_times[:, following - window : following + output], values, exogenous

    def _process_window(self, features, mode, exogenous_regressors):
        """ModelOutputs of one window, input and output."""
        times, original = features[TrainEvalFeatures.TIMES], features[TrainEvalFeatures.VALUES]
        times = math.cast(times, dtypes.int64)
        window = self.input_window_size
        values = self._scale_data(original)
        found = self.prediction_ops(times, values[:, :window, :] if window else values[:, :0, :], exogenous_regressors)
        loss = self._window_loss(array.slice_(values, [0, window, 0], [-1, -1, -1]), found, mode)
        predictions = {
            "mean": self._scale_back_data(found["mean"]),
            "covariance": self._scale_back_variance(found["covariance"]),
        }
        last = slice(-window, None) if window else slice(0, 0)
        state = (times[:, last], values[:, last, :], exogenous_regressors[:, last, :])
        predictions["observed"] = original[:, window:]
        return ModelOutputs(loss=loss, end_state=state, predictions=predictions, prediction_times=times[:, window:])

    def _window_loss(self, targets, found, mode):
        """A squared loss is told in the units of the data, but where it is only made smaller."""
        if self.loss == self.SQUARED_LOSS and mode == ModeKeys.EVAL:
            targets = self._scale_back_data(targets)
            found = {**found, "mean": self._scale_back_data(found["mean"])}
        return self.loss_op(targets, found)

    def get_batch_loss(self, features, mode, state):
        """ModelOutputs of windows where training, of whole series otherwise."""
        times = features[TrainEvalFeatures.TIMES]
        exogenous = TimeSeriesModel._process_exogenous_features(
            self,
            times,
            {k: v for k, v in features.items() if k not in (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)},
        )
        if mode == ModeKeys.TRAIN:
            if not times.shape.is_compatible_with([None, self.window_size]):
                raise ValueError(
                    f"Training on windows of {self.input_window_size} and {self.output_window_size} steps takes times of shape"
                    f" [batch, {self.window_size}], not {times.shape}: give RandomWindowInputFn a window_size of {self.window_size}"
                )
            return self._process_window(features, mode, exogenous)
        return self._process_series(features, mode, state, exogenous)

    def _process_series(self, features, mode, state, exogenous):
        original_times, original_values = features[TrainEvalFeatures.TIMES], features[TrainEvalFeatures.VALUES]
        window, output = self.input_window_size, self.output_window_size
        windows = (array.shape(original_times)[1] - window) // output
        predicted = windows * output
        # The first steps are left out where windows don't come out even.
        kept = predicted + window
        times, values = original_times[:, -kept:], original_values[:, -kept:]
        arrays = [TensorArray(dtype=self.dtype, size=windows) for _ in range(3)]

        def one_window(number, losses, means, covariances):
            base = number * output
            found = self._process_window(
                {
                    TrainEvalFeatures.TIMES: times[:, base : base + self.window_size],
                    TrainEvalFeatures.VALUES: values[:, base : base + self.window_size],
                },
                mode,
                exogenous[:, base : base + self.window_size],
            )
            return (
                number + 1,
                losses.write(number, found.loss),
                means.write(number, found.predictions["mean"]),
                covariances.write(number, found.predictions["covariance"]),
            )

        _, losses, means, covariances = while_loop(lambda number, *_: number < windows, one_window, [0, *arrays])
        batch_size = array.shape(original_times)[0]
        shape = [batch_size, output * windows, self.num_features]
        state_times, state_values, state_exogenous = state
        last = slice(-window, None) if window else slice(0, 0)
        end_state = (
            array.concat([state_times, original_times], 1)[:, last],
            array.concat([state_values, self._scale_data(values)], 1)[:, last, :],
            array.concat([state_exogenous, exogenous], 1)[:, last, :],
        )
        # States are never shorter than a window, which graphs can't know where a series' length is open.
        for part in end_state:
            part.set_shape([part.shape.size(0), window, *part.shape[2:]])

        def in_a_row(stacked):
            return array.reshape(array.transpose(stacked.stack(), [1, 0, 2, 3]), shape)

        loss = math.reduce_mean(losses.stack(), axis=0)
        predictions = {"mean": in_a_row(means), "covariance": in_a_row(covariances)}
        predictions["observed"] = values[:, -predicted:]
        return ModelOutputs(
            loss=loss, end_state=end_state, predictions=predictions, prediction_times=original_times[:, -predicted:]
        )


class AnomalyMixtureARModel(ARModel):
    """An ARModel some of whose values are outliers, of a distribution of their own around the prediction.

    Args:
        periodicities: The lengths of periods in the series.
        anomaly_prior_probability: How likely a value is an outlier before it is looked at.
        input_window_size: How many steps are looked at.
        output_window_size: How many steps are predicted from them.
        num_features: How many values a step has.
        prediction_model_factory: Makes the network.
        anomaly_distribution: `GAUSSIAN_ANOMALY` or `CAUCHY_ANOMALY`.
        num_time_buckets: Into how many slots a period is divided.
        exogenous_feature_columns: Feature columns of what else is known of each step.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities,
        anomaly_prior_probability,
        input_window_size,
        output_window_size,
        num_features,
        prediction_model_factory=FlatPredictionModel,
        anomaly_distribution=GAUSSIAN_ANOMALY,
        num_time_buckets=10,
        exogenous_feature_columns=None,
    ):
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise AssertionError(
                f"anomaly_distribution is {self.GAUSSIAN_ANOMALY!r} or {self.CAUCHY_ANOMALY!r}, not {anomaly_distribution!r}"
            )
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution

    def prediction_ops(self, times, values, exogenous_regressors):
        found = super().prediction_ops(times, values, exogenous_regressors)
        found["anomaly_params"] = self._create_anomaly_ops(times, values, found)
        return found

    def _create_anomaly_ops(self, times, values, prediction_ops_dict):
        """How far outliers lie from predictions."""
        # Outliers begin as far away as the whole series varies.
        log_scale = get_variable("anomaly_log_param", shape=[], dtype=self.dtype, initializer=zeros_initializer())
        return math.exp(log_scale)

    def _anomaly_log_prob(self, targets, prediction_ops):
        log_prob = {self.GAUSSIAN_ANOMALY: _normal_log_prob, self.CAUCHY_ANOMALY: _cauchy_log_prob}
        return log_prob[self._anomaly_distribution](prediction_ops["mean"], prediction_ops["anomaly_params"], targets)

    def _log_likelihood(self, targets, prediction_ops):
        outlier = self._anomaly_prior_probability
        normal = super()._log_likelihood(targets, prediction_ops) + math.log(1.0 - outlier)
        anomalous = self._anomaly_log_prob(targets, prediction_ops) + math.log(outlier)
        less, more = math.minimum(normal, anomalous), math.maximum(normal, anomalous)
        return more + math.log(1 + math.exp(less - more))


def _normal_log_prob(loc, scale, x):
    """As TensorFlow's models have it: with the logarithm of the deviation where twice that would be right."""
    distance = (loc - x) / scale
    return -0.5 * (math.square(distance) + np.log(2 * numbers.pi) + math.log(scale))


def _cauchy_log_prob(loc, scale, x):
    distance = (loc - x) / scale
    return -np.log(numbers.pi) - math.log(scale) - math.log1p(math.square(distance))
