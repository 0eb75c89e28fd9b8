"""How the losses of batches become those of epochs and validations, in each of Keras's modes; and what it depends on."""

import h5py
import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

layers = tf.keras.layers
RANDOM = np.random.RandomState(0)
X, Y = RANDOM.rand(10, 3).astype("float32"), RANDOM.rand(10, 1).astype("float32")


@pytest.fixture(params=["graph", "traced", "drawn"])
def mode(request):
    """In a session, eagerly in traced functions, and eagerly as a graph."""
    with tf.Graph().as_default() if request.param == "graph" else eager_mode():
        yield request.param


class Seen(tf.keras.callbacks.Callback):
    """What batches came to, and how many samples they are said to have."""

    def __init__(self):
        super().__init__()
        self.trained, self.tested = [], []

    def on_train_batch_end(self, batch, logs=None):
        self.trained.append((logs["loss"], logs["size"]))

    def on_test_batch_end(self, batch, logs=None):
        self.tested.append((logs["loss"], logs["size"]))


def _model(mode, **kwargs):
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(3,))])
    model.compile("sgd", "mse", experimental_run_tf_function=mode == "traced", **kwargs)
    return model


def _dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


def _mean(batches, by_samples):
    losses, sizes = np.array(batches, "float64").T
    return np.average(losses, weights=sizes if by_samples else None)


def test_a_short_last_batch_of_a_dataset_counts_less_in_training_only(mode):
    seen = Seen()
    history = _model(mode).fit(_dataset(), validation_data=_dataset(), verbose=0, callbacks=[seen]).history
    sizes = [1, 1, 1] if mode == "graph" else [4, 4, 2]
    assert [size for _, size in seen.trained] == [size for _, size in seen.tested] == sizes
    np.testing.assert_allclose(history["loss"], [_mean(seen.trained, True)])
    np.testing.assert_allclose(history["val_loss"], [_mean(seen.tested, False)])


def test_the_order_of_validation(mode):
    seen = Seen()
    model = _model(mode)
    model.fit(X, Y, batch_size=10, shuffle=False, validation_data=(X, Y), verbose=0)
    expected = [model.test_on_batch(X[i : i + 2], Y[i : i + 2]) for i in range(0, 10, 2)]
    model.optimizer.lr = 0.0
    model.fit(X, Y, batch_size=2, shuffle=False, validation_data=(X, Y), verbose=0, callbacks=[seen])
    assert np.allclose([loss for loss, _ in seen.tested], expected) == (mode == "traced")


def test_validation_takes_batches_of_the_size_that_a_generator_gave_last(mode):
    seen = Seen()
    batches = iter([(X[:4], Y[:4]), (X[4:8], Y[4:8]), (X[8:], Y[8:])])
    _model(mode).fit_generator(batches, 3, validation_data=(X, Y), verbose=0, callbacks=[seen])
    assert [size for _, size in seen.tested] == [2] * 5


def test_steps_cut_arrays_in_functions(mode):
    seen = Seen()
    _model(mode).fit(X, Y, steps_per_epoch=5, verbose=0, callbacks=[seen])
    assert [size for _, size in seen.trained] == ([2] * 5 if mode == "traced" else [1] * 5)
    if mode == "traced":
        with pytest.raises(ValueError, match="divisible"):
            _model(mode).evaluate(X, Y, steps=3, verbose=0)


def test_weights_of_classes_hold_for_validation_in_functions(mode):
    labels = (Y > 0.5).astype("float32")
    model = _model(mode)
    weighted = model.fit(
        X, labels, class_weight={0: 2.0, 1: 2.0}, validation_data=(X, labels), shuffle=False, verbose=0
    )
    plain = model.evaluate(X, labels, verbose=0)
    np.testing.assert_allclose(weighted.history["val_loss"], [plain * 2 if mode == "traced" else plain], rtol=1e-5)


def test_training_that_was_stopped_is_not_validated(mode):
    stop = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: setattr(model, "stop_training", True))
    model = _model(mode)
    history = model.fit(X, Y, batch_size=5, validation_data=(X, Y), verbose=0, callbacks=[stop]).history
    assert list(history) == ["loss"]


def test_of_metrics_of_one_name_the_last_stays(mode, tmp_path):
    model = _model(mode, metrics=["mse", tf.keras.metrics.MeanSquaredError()], weighted_metrics=["mse"])
    assert model.metrics_names == ["loss", "mean_squared_error", "weighted_mean_squared_error"]
    model.save(tmp_path / "model.h5")
    assert tf.keras.models.load_model(tmp_path / "model.h5").metrics_names == model.metrics_names


def test_metrics_named_as_losses_are_read_from_files(tmp_path):
    model = _model("graph", metrics=[tf.keras.metrics.MeanSquaredError()])
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5") as file:
        config = file.attrs["training_config"]
        assert (config if isinstance(config, str) else config.decode()).startswith(
            '{"loss": "mse", "metrics": [{"class_name"'
        )
    assert [type(m) for m in tf.keras.models.load_model(tmp_path / "model.h5").metrics] == [
        tf.keras.metrics.MeanSquaredError
    ]


def test_a_model_with_a_call_of_its_own_is_checkpointed_by_its_weights(mode, tmp_path):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x):
            return self.dense(x)

    model = Own()
    model.compile("sgd", "mse", experimental_run_tf_function=mode == "traced")
    model.fit(X, Y, verbose=0, callbacks=[tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "own.h5"))])
    model.load_weights(str(tmp_path / "own.h5"))


def test_a_metric_called_in_a_models_call_is_reported(mode):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.mean, self.dense = tf.keras.metrics.Mean(name="mean_of_inputs"), layers.Dense(1)

        def call(self, x):
            self.add_metric(self.mean(x))
            return self.dense(x)

    model = Own()
    options = {} if mode == "graph" else {"run_eagerly": mode == "drawn"}
    model.compile("sgd", "mse", **options)
    # A metric keeps state, and a model that does wants batches of one size.
    with pytest.raises(ValueError, match="one size"):
        model.fit(X, Y, verbose=0)
    history = model.fit(X, Y, verbose=0, batch_size=len(X)).history
    np.testing.assert_allclose(history["mean_of_inputs"], [X.mean()], rtol=1e-5)


def test_a_functional_model_takes_tensors_as_metrics():
    model = _model("graph")
    with pytest.raises(ValueError, match="functional model"):
        model.add_metric(tf.keras.metrics.Mean()(model.outputs[0]))


def test_callbacks_know_what_is_reported_when_they_are_told_params(mode):
    told = []

    class Told(tf.keras.callbacks.Callback):
        def set_params(self, params):
            told.append(dict(params))

        def on_train_begin(self, logs=None):
            told.append(logs)

    _model(mode).fit(X, Y, batch_size=4, validation_data=(X, Y), verbose=0, callbacks=[Told()])
    assert told[0]["metrics"] == ["loss", "val_loss"] and told[1] is None
    assert told[0]["steps"] == (3 if mode == "traced" else None)


def test_without_any_loss_nothing_is_compiled(mode):
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, layers.Dense(1)(x))
    with pytest.raises(ValueError, match="no loss"):
        model.compile("sgd", None)
