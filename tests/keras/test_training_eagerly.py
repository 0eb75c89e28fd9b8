"""Keras models trained when operations run at once."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


def _one_dense(**compiled):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse", **compiled)
    return model


@pytest.mark.parametrize("eagerly", [True, False])
def test_a_model_with_nothing_to_train_still_reports_its_loss(eagerly):
    x = np.ones((4, 3), "float32")
    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(3,))])
        model.compile("sgd", "mse", run_eagerly=eagerly, experimental_run_tf_function=True)
        assert model.train_on_batch(x, 0 * x) == 1
        assert model.fit(x, 0 * x, epochs=2, verbose=0).history["loss"] == [1, 1]


def test_run_eagerly_can_be_set():
    with eager_mode():
        model = _one_dense()
        assert not model.run_eagerly
        model.run_eagerly = True
        assert model.run_eagerly
        assert model.train_on_batch(np.ones((4, 3)), np.zeros((4, 2))) == 9
    with tf.Graph().as_default():
        model = _one_dense(loss_weights=[0.5], experimental_run_tf_function=False)
        assert model._loss_weights_list == [0.5]
        model.run_eagerly = False
        with pytest.raises(ValueError):
            model.run_eagerly = True


def test_tensorboard_when_executing_eagerly(tmp_path):
    with eager_mode():
        model = _one_dense()
        callback = tf.keras.callbacks.TensorBoard(str(tmp_path))
        model.fit(np.ones((4, 3)), np.zeros((4, 2)), verbose=0, callbacks=[callback])
    events = [e for path in tmp_path.glob("events*") for e in tf.train.summary_iterator(str(path))]
    assert {value.tag for event in events for value in event.summary.value} == {"epoch_loss"}


def test_a_traced_function_as_call():
    class Double(tf.keras.layers.Layer):
        @tf.function
        def call(self, x, training=None):
            return x * 2

    with eager_mode():
        inputs = tf.keras.Input((3,))
        model = tf.keras.Model(inputs, Double()(inputs))
        np.testing.assert_array_equal(model.predict(np.ones((1, 3))), [[2, 2, 2]])


def _functional():
    inputs = tf.keras.Input((3,))
    outputs = tf.keras.layers.Dense(2, kernel_initializer="ones")(inputs)
    return tf.keras.Model(inputs, outputs), outputs


def test_losses_of_a_functional_models_tensors_count():
    with eager_mode():
        model, outputs = _functional()
        model.add_loss(tf.reduce_mean(outputs))
        model.compile("sgd", "mse")
        assert model.evaluate(np.ones((4, 3)), np.zeros((4, 2)), verbose=0) == 12
        assert model.train_on_batch(np.ones((4, 3)), np.zeros((4, 2))) == 12


def test_metrics_of_a_functional_models_tensors_are_of_the_batch():
    with eager_mode():
        model, outputs = _functional()
        model.add_metric(tf.reduce_sum(outputs, axis=1), name="sums", aggregation="mean")
        model.compile("sgd", "mse")
        x, y = np.ones((4, 3)), np.zeros((4, 2))
        assert model.evaluate(x, y, verbose=0) == [9, 6]
        first, second = model.train_on_batch(x, y), model.train_on_batch(x, y)
        np.testing.assert_allclose([first, second], [[9, 6], [8.2944, 5.76]], rtol=1e-5)
        assert model.metrics_names == ["loss", "sums"]


def test_a_prediction_on_a_batch_is_a_tensor_where_functions_train():
    ones = np.ones((4, 3), "float32")
    with eager_mode():
        assert hasattr(_one_dense().predict_on_batch(ones), "numpy")
        assert isinstance(_one_dense(experimental_run_tf_function=False).predict_on_batch(ones), np.ndarray)


def test_an_epoch_without_data():
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensor_slices((np.ones((4, 3), "float32"), np.zeros((4, 2), "float32"))).batch(2)
        losses = _one_dense().fit(data, steps_per_epoch=2, epochs=3, verbose=0).history["loss"]
        assert len(losses) == 2 and losses[1] == losses[0] / 2
    with eager_mode():
        data = tf.data.Dataset.from_tensor_slices((np.ones((4, 3), "float32"), np.zeros((4, 2), "float32"))).batch(2)
        with pytest.raises(ValueError, match="repeat"):
            _one_dense().fit(data, steps_per_epoch=2, epochs=3, verbose=0)


def test_one_input_by_name_comes_by_name():
    with eager_mode():
        column = tf.feature_column.numeric_column("a")
        model = tf.keras.Sequential([tf.keras.layers.DenseFeatures([column]), tf.keras.layers.Dense(2)])
        model.compile("sgd", "mse")
        data = {"a": np.ones((4, 1), "float32")}
        assert len(model.fit(data, np.zeros((4, 2)), verbose=0).history["loss"]) == 1
        assert model.predict(data).shape == (4, 2)
    tf.keras.backend.clear_session()


def test_whether_targets_of_another_rank_fit_is_for_the_loss_to_say():
    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(3), input_shape=(5, 4))])
        model.compile("sgd", "mae", run_eagerly=True)
        x = np.ones((2, 5, 4), "float32")
        assert np.isfinite(model.train_on_batch(x, np.ones((5, 1), "float32")[:2, None]))
        with pytest.raises(tf.errors.InvalidArgumentError):
            model.train_on_batch(x, np.ones((2, 2), "float32"))


def test_weights_of_samples_may_be_tensors():
    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="zeros")])
        model.compile("sgd", "mse")
        x, y = tf.ones((4, 2)), tf.ones((4, 1))
        assert model.evaluate(x, y, sample_weight=tf.constant([1.0, 1.0, 0.0, 0.0]), verbose=0) == 0.5
        model.fit(x, y, sample_weight=tf.ones(4), steps_per_epoch=2, verbose=0)


def test_a_model_that_runs_eagerly_is_asked_for_its_loss_in_training():
    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", run_eagerly=True)
        with pytest.raises(ValueError):
            model.train_on_batch(np.ones((2, 2)))
        with pytest.raises(ValueError):
            model.compile("sgd")


def test_who_trains_on_a_dataset_in_functions_is_not_told_its_length():
    told = []

    class Told(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            told.append(self.params["steps"])

    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        batches = tf.data.Dataset.from_tensor_slices((np.ones((4, 2)), np.ones((4, 1)))).batch(2)
        model.fit(batches, verbose=0, callbacks=[Told()])
        model.fit(batches, verbose=0, callbacks=[Told()], steps_per_epoch=2)
    assert told == [None, 2]


def test_gradients_are_clipped_in_graphs_only():
    x = np.ones((4, 3), "float32")
    kernels = {}
    with eager_mode():
        for in_functions in (True, False):
            model = _one_dense()
            model.compile(
                tf.keras.optimizers.SGD(1.0, clipvalue=0.25), "mse", experimental_run_tf_function=in_functions
            )
            model.train_on_batch(x, np.zeros((4, 2)))
            kernels[in_functions] = model.layers[0].kernel.numpy()
    np.testing.assert_allclose(kernels[False], 0.75)
    np.testing.assert_allclose(kernels[True], -2)


def test_losses_of_single_samples_keep_their_type():
    x = np.ones((4, 3), "float32")
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", tf.keras.losses.MeanSquaredError(reduction="none"))
    assert model.fit(x, np.zeros((4, 2)), verbose=0).history["loss"][0].dtype == np.float32
