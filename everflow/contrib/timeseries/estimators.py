"""Estimators of series."""

from __future__ import annotations

import functools

from everflow.contrib.timeseries import ar_model
from everflow.contrib.timeseries.feature_keys import FilteringFeatures
from everflow.contrib.timeseries.head import OneShotPredictionHead, TimeSeriesRegressionHead, state_to_dictionary
from everflow.contrib.timeseries.state_management import (
    ChainingStateManager,
    FilteringOnlyStateManager,
    PassthroughStateManager,
)
from everflow.contrib.timeseries.state_space_models.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space_models.filtering_postprocessor import StateInterpolatingAnomalyDetector
from everflow.contrib.timeseries.state_space_models.state_space_model import StateSpaceModel
from everflow.contrib.timeseries.state_space_models.structural_ensemble import MultiResolutionStructuralEnsemble
from everflow.contrib.timeseries.statistics import InputStatisticsFromMiniBatch
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.export.receivers import ServingInputReceiver
from everflow.feature_column.parsing import make_parse_example_spec
from everflow.framework import dtypes
from everflow.framework.graph import Graph
from everflow.ops import array
from everflow.ops.array.constants import placeholder, placeholder_with_default
from everflow.ops.io.examples import FixedLenFeature, parse_example
from everflow.ops.variables.variable import global_variables, local_variables, variables_initializer
from everflow.runtime.session import Session
from everflow.train.adam import AdamOptimizer
from everflow.train.adaptive import AdagradOptimizer

_TIMES, _VALUES = FilteringFeatures.TIMES, FilteringFeatures.VALUES


class TimeSeriesRegressor(Estimator):
    """An estimator of a model of series: `train`, `evaluate`, which also gives a state, and `predict` from that.

    Args:
        model: The model, such as one's own `SequentialTimeSeriesModel`.
        state_manager: Where states come from; windows begin anew by default.
        optimizer: What trains it; Adagrad by default.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.RunConfig`: where and how to run.
        head_type: What makes losses, metrics and exports.
    """

    def __init__(
        self,
        model,
        state_manager=None,
        optimizer=None,
        model_dir=None,
        config=None,
        head_type=TimeSeriesRegressionHead,
    ):
        statistics = InputStatisticsFromMiniBatch(dtype=model.dtype, num_features=model.num_features)
        state_manager = PassthroughStateManager() if state_manager is None else state_manager
        optimizer = AdagradOptimizer(0.1) if optimizer is None else optimizer
        self._model = model
        head = head_type(model, state_manager, optimizer, input_statistics_generator=statistics)
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def _model_start_state_placeholders(self, batch_size_tensor, static_batch_size=None):
        """{name: a placeholder of a part of the state}; what isn't fed is the state before anything was seen."""
        # A graph of its own: the default of a placeholder is a constant.
        with Graph().as_default():
            self._model.initialize_graph()
            start = state_to_dictionary(self._model.get_start_state())
            with Session() as session:
                session.run([variables_initializer(global_variables()), variables_initializer(local_variables())])
                values = session.run(start)
        found = {}
        for name, value in values.items():
            multiples = array.concat([batch_size_tensor[None], array.ones([value.ndim], dtype=dtypes.int32)], axis=0)
            found[name] = placeholder_with_default(
                array.tile(value[None], multiples), name=name, shape=[static_batch_size, *value.shape]
            )
        return found

    def _exogenous_placeholders(self, batch_size, series_length):
        """{name: a placeholder} of what the feature columns read."""
        spec = make_parse_example_spec(self._model.exogenous_feature_columns)
        return {
            name: placeholder(dtype=feature.dtype, shape=[batch_size, series_length, *feature.shape], name=name)
            for name, feature in sorted(spec.items())
        }

    def build_raw_serving_input_receiver_fn(self, default_batch_size=None, default_series_length=None):
        """A function for `export_saved_model`: times, values and states are fed as they are.

        Args:
            default_batch_size: The static size of the batch, or None.
            default_series_length: The static number of steps, or None.
        """

        def receiver():
            times = placeholder(shape=[default_batch_size, default_series_length], dtype=dtypes.int64, name=_TIMES)
            # Predictions need no values.
            values = placeholder_with_default(
                array.zeros(
                    [default_batch_size or 0, default_series_length or 0, self._model.num_features], self._model.dtype
                ),
                name=_VALUES,
                shape=[default_batch_size, default_series_length, self._model.num_features],
            )
            fed = {_TIMES: times, _VALUES: values}
            fed.update(self._exogenous_placeholders(default_batch_size, default_series_length))
            fed.update(
                self._model_start_state_placeholders(array.shape(times)[0], static_batch_size=default_batch_size)
            )
            return ServingInputReceiver(fed, fed)

        return receiver

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length,
        prediction_length,
        default_batch_size=None,
        values_input_dtype=None,
        truncate_values=False,
    ):
        """A function for `export_saved_model` with a OneShotPredictionHead: serialized Examples are fed.

        Args:
            filtering_length: How many steps with values an Example has.
            prediction_length: How many steps are predicted after them.
            default_batch_size: The static size of the batch, or None.
            values_input_dtype: The type of values in Examples; the model's by default.
            truncate_values: Whether Examples have values of all steps, of which those to predict are left out.
        """
        whole = filtering_length + prediction_length
        values_length = whole if truncate_values else filtering_length
        values_dtype = self._model.dtype if values_input_dtype is None else values_input_dtype

        def receiver():
            spec = {
                _TIMES: FixedLenFeature([whole], dtypes.int64),
                _VALUES: FixedLenFeature([values_length, self._model.num_features], values_dtype),
            }
            for name, feature in make_parse_example_spec(self._model.exogenous_feature_columns).items():
                spec[name] = FixedLenFeature([whole, *feature.shape], feature.dtype)
            serialized = placeholder(dtype=dtypes.string, shape=[default_batch_size], name="input")
            features = parse_example(serialized, spec)
            features[_VALUES] = features[_VALUES][:, :filtering_length]
            return ServingInputReceiver(features, {"examples": serialized})

        return receiver


class ARRegressor(TimeSeriesRegressor):
    """Autoregression: a window of values predicts the next one.

    Args:
        periodicities: The lengths of periods in the series, an integer or a list.
        input_window_size: How many steps are looked at.
        output_window_size: How many steps are predicted from them.
        num_features: How many values a step has.
        exogenous_feature_columns: Feature columns of what else is known of each step.
        num_time_buckets: Into how many slots a period is divided.
        loss: `ARModel.NORMAL_LIKELIHOOD_LOSS` or `ARModel.SQUARED_LOSS`.
        hidden_layer_sizes: The sizes of dense layers between windows and predictions.
        anomaly_prior_probability: How likely a value is an outlier; None if there are none.
        anomaly_distribution: The distribution of outliers, `"gaussian"` or `"cauchy"`.
        optimizer: What trains it; Adagrad by default.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.RunConfig`: where and how to run.

    Example:
        >>> regressor = tf.contrib.timeseries.ARRegressor(
        ...     periodicities=10, input_window_size=6, output_window_size=2, num_features=1, model_dir="series")
        >>> regressor.model_dir
        'series'
    """

    def __init__(
        self,
        periodicities,
        input_window_size,
        output_window_size,
        num_features,
        exogenous_feature_columns=None,
        num_time_buckets=10,
        loss=ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes=None,
        anomaly_prior_probability=None,
        anomaly_distribution=None,
        optimizer=None,
        model_dir=None,
        config=None,
    ):
        network = functools.partial(ar_model.FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes)
        both = {
            "periodicities": periodicities,
            "num_features": num_features,
            "prediction_model_factory": network,
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
        }
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise AssertionError(
                    f"Outliers of distribution {anomaly_distribution!r} need an anomaly_prior_probability"
                )
            model = ar_model.ARModel(loss=loss, **both)
        else:
            if loss != ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise AssertionError(f"Outliers go with {ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS!r}, not {loss!r}")
            model = ar_model.AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability, anomaly_distribution=anomaly_distribution, **both
            )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
        )


class LSTMAutoRegressor(TimeSeriesRegressor):
    """Autoregression by two LSTMs: one reads the input window, the other goes on over the output window.

    Args:
        periodicities: The lengths of periods in the series, an integer or a list.
        input_window_size: How many steps are looked at.
        output_window_size: How many steps are predicted from them.
        model_dir: The folder of checkpoints and event files.
        num_features: How many values a step has.
        extra_feature_columns: Feature columns of what else is known of each step.
        num_timesteps: Into how many slots a period is divided.
        loss: `ARModel.NORMAL_LIKELIHOOD_LOSS` or `ARModel.SQUARED_LOSS`.
        num_units: The size of the LSTMs.
        optimizer: What trains it, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.
    """

    def __init__(
        self,
        periodicities,
        input_window_size,
        output_window_size,
        model_dir=None,
        num_features=1,
        extra_feature_columns=None,
        num_timesteps=10,
        loss=ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units=128,
        optimizer="Adam",
        config=None,
    ):
        super().__init__(
            model=ar_model.ARModel(
                periodicities=periodicities,
                input_window_size=input_window_size,
                output_window_size=output_window_size,
                num_features=num_features,
                exogenous_feature_columns=extra_feature_columns,
                num_time_buckets=num_timesteps,
                loss=loss,
                prediction_model_factory=functools.partial(ar_model.LSTMPredictionModel, num_units=num_units),
            ),
            head_type=OneShotPredictionHead,
            state_manager=FilteringOnlyStateManager(),
            optimizer=get_optimizer_instance(optimizer, learning_rate=0.001),
            model_dir=model_dir,
            config=config,
        )


class StateSpaceRegressor(TimeSeriesRegressor):
    """An estimator of a state space model; states go from window to window.

    Args:
        model: A `StateSpaceModel`.
        state_manager: Where states come from; kept from window to window by default.
        optimizer: What trains it; Adam by default.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.RunConfig`: where and how to run.
        head_type: What makes losses, metrics and exports.
    """

    def __init__(
        self,
        model,
        state_manager=None,
        optimizer=None,
        model_dir=None,
        config=None,
        head_type=TimeSeriesRegressionHead,
    ):
        if not isinstance(model, StateSpaceModel):
            raise ValueError(f"A StateSpaceRegressor needs a StateSpaceModel, not {type(model).__name__}")
        super().__init__(
            model=model,
            state_manager=ChainingStateManager() if state_manager is None else state_manager,
            optimizer=AdamOptimizer(0.02) if optimizer is None else optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )


class StructuralEnsembleRegressor(StateSpaceRegressor):
    """Level, trend, autoregression, moving average and cycles, learnt together.

    Args:
        periodicities: How many steps the periods of the series have, a number or a list of them.
        num_features: How many values a step has.
        cycle_num_latent_values: How many values are kept of a cycle, an odd number or a list of them for all cycles.
        moving_average_order: On the noise of how many earlier steps values depend.
        autoregressive_order: On how many earlier values they depend.
        exogenous_feature_columns: Feature columns of what else is known of each step.
        exogenous_update_condition: `fn(times, features)` that says whether a step's further features count.
        dtype: The type of values.
        anomaly_prior_probability: How likely a value is an outlier; None if there are none.
        optimizer: What trains it; Adam by default.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.RunConfig`: where and how to run.
        head_type: What makes losses, metrics and exports.

    Example:
        >>> regressor = tf.contrib.timeseries.StructuralEnsembleRegressor(
        ...     periodicities=12, num_features=1, cycle_num_latent_values=5, model_dir="series")
        >>> regressor.model_dir
        'series'
    """

    def __init__(
        self,
        periodicities,
        num_features,
        cycle_num_latent_values=11,
        moving_average_order=4,
        autoregressive_order=0,
        exogenous_feature_columns=None,
        exogenous_update_condition=None,
        dtype=dtypes.float64,
        anomaly_prior_probability=None,
        optimizer=None,
        model_dir=None,
        config=None,
        head_type=TimeSeriesRegressionHead,
    ):
        outliers = None
        if anomaly_prior_probability is not None:
            outliers = StateInterpolatingAnomalyDetector(anomaly_prior_probability=anomaly_prior_probability)
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values,
            moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order,
            periodicities=periodicities,
            configuration=StateSpaceModelConfiguration(
                num_features=num_features,
                dtype=dtype,
                filtering_postprocessor=outliers,
                exogenous_feature_columns=exogenous_feature_columns,
                exogenous_update_condition=exogenous_update_condition,
            ),
        )
        super().__init__(model=model, optimizer=optimizer, model_dir=model_dir, config=config, head_type=head_type)
