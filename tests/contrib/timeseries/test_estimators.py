"""Estimators of series: they train, evaluate, predict and are exported as TensorFlow's; the numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.timeseries import saved_model_utils
from everflow.contrib.timeseries.estimators import LSTMAutoRegressor
from everflow.contrib.timeseries.model import SequentialTimeSeriesModel

ts = tf.contrib.timeseries


def sine(steps, features=1):
    return {"times": np.arange(steps), "values": np.stack([np.sin(np.arange(steps) * 0.5)] * features, 1)}


def trained(make, folder, **arguments):
    """An estimator after three steps on one and the same window."""
    estimator = make(
        input_window_size=6,
        output_window_size=2,
        num_features=1,
        model_dir=str(folder),
        config=tf.estimator.RunConfig(tf_random_seed=3),
        **arguments,
    )
    windows = ts.RandomWindowInputFn(ts.NumpyReader(sine(8)), batch_size=4, window_size=8, jitter=False)
    estimator.train(windows, steps=3)
    return estimator


def evaluated(estimator, steps=50):
    return estimator.evaluate(ts.WholeDatasetInputFn(ts.NumpyReader(sine(steps))), steps=1)


CASES = {
    "likelihood": ({"periodicities": [10]}, 3.5691397, [0.709971, 0.8568331, 0.42608482]),
    "squared": (
        {"periodicities": [7, 9], "hidden_layer_sizes": [5], "loss": ts.ARModel.SQUARED_LOSS},
        0.84111875,
        [1.0670857, 0.39407864, 1.0610466],
    ),
    "outliers": (
        {"periodicities": 10, "anomaly_prior_probability": 0.1, "anomaly_distribution": "cauchy"},
        3.0417001,
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_autoregression(case, tmp_path):
    arguments, loss, means = CASES[case]
    estimator = trained(ts.ARRegressor, tmp_path, **arguments)
    found = evaluated(estimator)
    np.testing.assert_allclose(found["loss"], loss, rtol=1e-5)
    assert found["mean"].shape == found["covariance"].shape == found["observed"].shape == (1, 44, 1)
    np.testing.assert_array_equal(found["times"], [np.arange(6, 50)])
    np.testing.assert_array_equal(found["start_tuple"][0], [np.arange(44, 50)])
    (predicted,) = estimator.predict(ts.predict_continuation_input_fn(found, steps=5))
    np.testing.assert_array_equal(predicted["times"], np.arange(50, 55))
    assert predicted["covariance"].shape == (5, 1)
    if means:
        np.testing.assert_allclose(predicted["mean"][:3, 0], means, rtol=1e-4)


@pytest.mark.parametrize("sizes", [(3, 5), (4, 4), (0, 8)])
def test_predictions_from_windows_no_longer_than_themselves(sizes, tmp_path):
    estimator = ts.ARRegressor(10, *sizes, num_features=1, model_dir=str(tmp_path))
    windows = ts.RandomWindowInputFn(ts.NumpyReader(sine(8)), batch_size=4, window_size=8, jitter=False)
    estimator.train(windows, steps=1)
    (predicted,) = estimator.predict(ts.predict_continuation_input_fn(evaluated(estimator), steps=11))
    assert predicted["mean"].shape == (11, 1)


def test_training_takes_windows_of_the_models_size(tmp_path):
    estimator = ts.ARRegressor(10, input_window_size=6, output_window_size=2, num_features=1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="window_size of 8"):
        estimator.train(ts.WholeDatasetInputFn(ts.NumpyReader(sine(50))), steps=1)


def test_recurrent_autoregression_keeps_no_state(tmp_path):
    estimator = trained(
        LSTMAutoRegressor, tmp_path, periodicities=10, num_units=4, optimizer=tf.train.AdamOptimizer(0.01)
    )
    found = evaluated(estimator)
    np.testing.assert_allclose(found["loss"], 2.6733224, rtol=1e-5)
    assert "start_tuple" not in found
    exported = estimator.export_saved_model(
        str(tmp_path / "exported"), estimator.build_one_shot_parsing_serving_input_receiver_fn(10, 4)
    )
    example = tf.train.Example()
    example.features.feature["times"].int64_list.value.extend(range(14))
    example.features.feature["values"].float_list.value.extend(np.sin(np.arange(10) * 0.5))
    predict = tf.contrib.predictor.from_saved_model(exported.decode())
    assert predict({"examples": [example.SerializeToString()]})["mean"].shape == (1, 4, 1)


def test_exported_models_filter_and_predict(tmp_path):
    estimator = trained(ts.ARRegressor, tmp_path, periodicities=10)
    folder = estimator.export_saved_model(str(tmp_path / "exported"), estimator.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load(sess, ["serve"], folder.decode())
        begun = saved_model_utils.cold_start_filter(loaded, sess, sine(20))
        np.testing.assert_allclose(begun["model_state_01"][0, :3, 0], [0.45217416, 1.0722418, 1.1855661], rtol=1e-5)
        predicted = saved_model_utils.predict_continuation(begun, loaded, sess, steps=4)
        np.testing.assert_allclose(predicted["mean"][0, :3, 0], [0.3244338, 0.32885525, 0.72813535], rtol=1e-4)
        np.testing.assert_array_equal(predicted["times"], [np.arange(20, 24)])
        more = {name: value[20:] for name, value in sine(30).items()}
        further = saved_model_utils.filter_continuation(begun, loaded, sess, more)
        np.testing.assert_allclose(further["model_state_01"][0, 0, 0], -2.1814647, rtol=1e-5)


class LastValue(SequentialTimeSeriesModel):
    """Predicts the last value, times a factor that is learned."""

    def __init__(self, **arguments):
        super().__init__(["mean"], ["mean"], num_features=1, **arguments)

    def initialize_graph(self, input_statistics=None):
        super().initialize_graph(input_statistics)
        self._factor = tf.get_variable("factor", [], initializer=tf.zeros_initializer())

    def get_start_state(self):
        return [tf.zeros([1])]

    def _filtering_step(self, current_times, current_values, state, predictions):
        predictions["loss"] = tf.reduce_sum((predictions["mean"] - current_values) ** 2, axis=-1)
        return (current_values,), predictions

    def _prediction_step(self, current_times, state):
        (last,) = state
        return (last * self._factor,), {"mean": last * self._factor}

    def _imputation_step(self, current_times, state):
        return state

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        (last,) = state
        return [last + current_exogenous_regressors]


def test_a_model_of_ones_own(tmp_path):
    estimator = ts.TimeSeriesRegressor(LastValue(), optimizer=tf.train.AdamOptimizer(0.2), model_dir=str(tmp_path))
    series = {"times": np.arange(20), "values": 0.5 ** np.arange(20)}
    estimator.train(ts.WholeDatasetInputFn(ts.NumpyReader(series)), steps=60)
    found = estimator.evaluate(ts.WholeDatasetInputFn(ts.NumpyReader(series)), steps=1)
    np.testing.assert_allclose(found["mean"][0, 1:, 0], series["values"][1:], atol=0.03)
    (predicted,) = estimator.predict(ts.predict_continuation_input_fn(found, steps=3))
    assert predicted["mean"].shape == (3, 1)


@pytest.mark.parametrize("threshold", [None, 100])
@pytest.mark.parametrize("condition", [None, lambda times, features: tf.equal(times % 2, 0)])
def test_further_features_of_steps(condition, threshold):
    """Each even step adds its feature to what is predicted, in a loop or drawn step by step."""
    with tf.Graph().as_default(), tf.Session() as sess:
        model = LastValue(
            exogenous_feature_columns=[tf.feature_column.numeric_column("push")],
            exogenous_update_condition=condition,
            static_unrolling_window_size_threshold=threshold,
        )
        model.initialize_graph()
        sess.run(tf.global_variables_initializer())
        sess.run(model._factor.assign(1.0))
        predicted = model.predict(
            {
                "times": tf.constant([[1, 2, 3]], tf.int64),
                "push": tf.constant([[[1.0], [10.0], [100.0]]]),
                "start_tuple": [tf.constant([[5.0]])],
            }
        )
        sess.run(tf.global_variables_initializer())
        sess.run(model._factor.assign(1.0))
        expected = [6.0, 16.0, 116.0] if condition is None else [5.0, 15.0, 15.0]
        np.testing.assert_array_equal(sess.run(predicted["mean"])[0, :, 0], expected)
