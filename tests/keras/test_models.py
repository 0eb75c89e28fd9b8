"""tf.keras.Model and Sequential: graphs of layers, training loops and their data, callbacks, files."""

import json
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf

L, K, C = tf.keras.layers, tf.keras.backend, tf.keras.callbacks
X = np.random.RandomState(0).normal(size=(20, 4)).astype("float32")
Y = X.sum(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()
    tf.set_random_seed(1)
    np.random.seed(1)


def perceptron(units=1, activation=None):
    return tf.keras.Sequential([L.Dense(5, activation="relu", input_shape=(4,)), L.Dense(units, activation=activation)])


def compiled(**kwargs):
    model = perceptron()
    model.compile(kwargs.pop("optimizer", "sgd"), "mse", **kwargs)
    return model


# --- graphs of layers -------------------------------------------------------------------------


def test_layers_in_the_order_of_the_graph():
    a, b = tf.keras.Input((2,), name="a"), tf.keras.Input((2,), name="b")
    shared = L.Dense(3, name="shared")
    merged = L.add([shared(a), shared(b)])
    model = tf.keras.Model([a, b], [merged, L.Dense(1, name="out")(merged)])
    assert [layer.name for layer in model.layers] == ["a", "b", "shared", "add", "out"]
    assert model.input_names == ["a", "b"] and model.output_names == ["add", "out"]
    assert len(model.weights) == 4
    copy = tf.keras.Model.from_config(json.loads(json.dumps(model.get_config())))
    copy.set_weights(model.get_weights())
    x = np.ones((1, 2))
    np.testing.assert_allclose(copy.predict([x, x])[1], model.predict([x, x])[1])


def test_a_model_in_a_model_keeps_its_place_in_the_config():
    x = tf.keras.Input((4,))
    inner = perceptron(3)
    model = tf.keras.Model(x, L.add([inner(x), inner(2.0 * x)]))
    calls = model.get_config()["layers"][-1]["inbound_nodes"]
    assert [call[:3] for call in calls[0]] == [[inner.name, 1, 0], [inner.name, 2, 0]]
    copy = tf.keras.Model.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    np.testing.assert_allclose(copy.predict(X), model.predict(X), rtol=1e-5)


def test_plain_ops_become_layers():
    x = tf.keras.Input((4,))
    model = tf.keras.Model(x, tf.nn.relu(L.Dense(2)(x)) * 2.0)
    assert [type(layer).__name__ for layer in model.layers] == [
        "InputLayer",
        "Dense",
        "TensorFlowOpLayer",
        "TensorFlowOpLayer",
    ]
    again = tf.keras.models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict(X), model.predict(X))


def test_states_of_an_encoder_begin_a_decoder():
    x, y = tf.keras.Input((None, 2)), tf.keras.Input((None, 2))
    _, h, c = L.LSTM(3, return_state=True)(x)
    decoded = L.LSTM(3, return_sequences=True)(y, initial_state=[h, c])
    model = tf.keras.Model([x, y], decoded)
    data = np.ones((1, 2, 2))
    copy = tf.keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    np.testing.assert_allclose(copy.predict([data, data]), model.predict([data, data]))
    assert not np.allclose(model.predict([data, data]), model.predict([0 * data, data]))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda x, y: tf.keras.Model(tf.keras.Input((4,)), y), "disconnected"),
        (lambda x, y: tf.keras.Model([x, x], y), "redundant"),
        (lambda x, y: tf.keras.Model(tf.placeholder(tf.float32, [None, 4]), y), "must come from `tf.keras.Input`"),
        (lambda x, y: tf.keras.Model(x, L.Dense(1, name="same")(L.Dense(1, name="same")(x))), "used 2 times"),
        (lambda x, y: tf.keras.Model(x, y).get_layer("none"), "No such layer"),
    ],
)
def test_graphs_that_are_none(make, words):
    x = tf.keras.Input((4,))
    with pytest.raises(ValueError, match=words):
        make(x, L.Dense(1)(x))


def test_super_init_comes_first():
    class Mine(tf.keras.Model):
        def __init__(self):
            self.dense = L.Dense(1)

    with pytest.raises(RuntimeError, match="forgot to call"):
        Mine()


# --- training ---------------------------------------------------------------------------------


def test_seeded_training_repeats():
    def run():
        K.clear_session()
        tf.set_random_seed(3)
        np.random.seed(3)
        model = tf.keras.Sequential([L.Dense(5, input_shape=(4,)), L.Dropout(0.4), L.Dense(1)])
        model.compile("adam", "mse")
        return model.fit(X, Y, batch_size=6, epochs=2, verbose=0).history["loss"]

    assert run() == run()


def test_all_forms_of_data_train_alike():
    def sequence():
        class Parts(tf.keras.utils.Sequence):
            def __len__(self):
                return 4

            def __getitem__(self, i):
                return X[i * 5 : i * 5 + 5], Y[i * 5 : i * 5 + 5]

        return Parts()

    def generator():
        while True:
            for i in range(0, 20, 5):
                yield X[i : i + 5], Y[i : i + 5]

    start = perceptron().get_weights()

    def losses(*args, **kwargs):
        model = compiled()
        model.set_weights(start)
        return model.fit(*args, epochs=2, verbose=0, shuffle=False, **kwargs).history["loss"]

    wanted = losses(X, Y, batch_size=5)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5)
    np.testing.assert_allclose(losses(dataset), wanted, rtol=1e-5)
    np.testing.assert_allclose(losses(dataset.repeat(), steps_per_epoch=4), wanted, rtol=1e-5)
    np.testing.assert_allclose(losses(generator(), steps_per_epoch=4), wanted, rtol=1e-5)
    np.testing.assert_allclose(losses(sequence()), wanted, rtol=1e-5)
    np.testing.assert_allclose(losses(sequence(), workers=2), wanted, rtol=1e-5)


def test_losses_of_layers_and_of_the_model_count():
    x = tf.keras.Input((4,))
    hidden = L.Dense(2, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.l2(0.5))(x)
    model = tf.keras.Model(x, hidden)
    model.add_loss(tf.reduce_mean(hidden))
    model.compile("sgd")
    loss = model.evaluate(X, verbose=0)
    np.testing.assert_allclose(loss, 0.5 * 8 + X.sum(axis=1).mean(), rtol=1e-5)


def test_a_layer_reports_a_metric():
    class Watch(L.Layer):
        def call(self, x):
            self.add_metric(tf.reduce_max(x), name="largest", aggregation="mean")
            return x

    model = tf.keras.Sequential([Watch(input_shape=(4,)), L.Dense(1)])
    model.compile("sgd", "mse")
    assert model.metrics_names == ["loss", "largest"]
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0, batch_size=20)[1], X.max(), rtol=1e-6)


def test_weights_of_samples_and_classes():
    model = compiled()
    weights = np.arange(20.0)
    error = (model.predict(X) - Y)[:, 0] ** 2
    np.testing.assert_allclose(
        model.evaluate(X, Y, sample_weight=weights, verbose=0, batch_size=20), (error * weights).mean(), rtol=1e-4
    )
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0, batch_size=20), error.mean(), rtol=1e-4)
    classes = perceptron(3, "softmax")
    classes.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.raises(ValueError, match="must contain all classes"):
        classes.fit(X, np.arange(20) % 3, class_weight={0: 1.0}, verbose=0)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda m: perceptron().fit(X, Y), RuntimeError, "compile"),
        (lambda m: m.fit(X, Y[:3]), ValueError, "same number of samples"),
        (lambda m: m.fit(X[:, :2], Y), ValueError, r"expected dense_input to have shape \(4,\)"),
        (lambda m: m.fit(X, np.ones((20, 2))), ValueError, "same shape as the output"),
        (lambda m: m.fit(X, Y, nonsense=1), TypeError, "nonsense"),
        (lambda m: m.fit(tf.ones([2, 4]), tf.ones([2, 1])), ValueError, "steps_per_epoch"),
        (lambda m: m.fit(x for x in []), ValueError, "Sequence"),
        (lambda m: m.compile("sgd", "mse", loss_weights=[1, 2]), ValueError, "one entry per model output"),
        (lambda m: m.compile("sgd", "nonsense"), ValueError, "Unknown loss"),
        (lambda m: m.compile("sgd"), ValueError, "no loss to optimize"),
    ],
)
def test_what_cannot_be_trained(call, error, words):
    with pytest.raises(error, match=words):
        call(compiled())


def test_frozen_layers_stay():
    model = perceptron()
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.fit(X, Y, verbose=0)
    assert [np.array_equal(a, b) for a, b in zip(before, model.get_weights())] == [True, True, False, False]


def test_a_subclassed_model_learns_its_inputs_from_the_data():
    class Sum(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.out = L.Dense(1, kernel_initializer="ones")

        def call(self, inputs, training=None):
            return self.out(inputs["a"] + inputs["b"])

    model = Sum()
    np.testing.assert_allclose(model.predict({"a": X, "b": X})[:, 0], 2 * X.sum(axis=1), rtol=1e-4, atol=1e-5)
    with pytest.raises(NotImplementedError):
        model.get_config()


# --- callbacks --------------------------------------------------------------------------------


def test_callbacks_stop_save_and_log(tmp_path):
    model = compiled(metrics=["mae"])
    seen = []
    history = model.fit(
        X,
        Y,
        epochs=5,
        verbose=0,
        validation_split=0.2,
        callbacks=[
            C.EarlyStopping("loss", min_delta=100.0, patience=2),
            C.ModelCheckpoint(str(tmp_path / "{epoch}.h5")),
            C.TensorBoard(str(tmp_path / "board")),
            C.LearningRateScheduler(lambda epoch: 0.01 / (epoch + 1)),
            C.CSVLogger(str(tmp_path / "log.csv")),
            C.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(logs["size"])),
        ],
    )
    assert history.epoch == [0, 1, 2] and seen == [16] * 3
    assert sorted(p.name for p in tmp_path.glob("*.h5")) == ["1.h5", "2.h5", "3.h5"]
    header, *rows = (tmp_path / "log.csv").read_text().splitlines()
    assert header == "epoch,loss,lr,mean_absolute_error,val_loss,val_mean_absolute_error" and len(rows) == 3
    np.testing.assert_allclose(history.history["lr"], [0.01, 0.005, 0.01 / 3], rtol=1e-6)
    assert list((tmp_path / "board").glob("*tfevents*"))


def test_the_bar_on_the_screen(capsys):
    compiled().fit(X, Y, epochs=2, verbose=2, validation_data=(X, Y))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Train on 20 samples, validate on 20 samples", "Epoch 1/2"]
    assert lines[2].startswith("20/20 - ") and "val_loss" in lines[2]


# --- files ------------------------------------------------------------------------------------


def test_a_model_in_a_file_goes_on_training(tmp_path):
    model = compiled(optimizer="adam", metrics=["mae"])
    model.fit(X, Y, verbose=0)
    model.reset_metrics()
    model.save(tmp_path / "model.h5")
    again = tf.keras.models.load_model(tmp_path / "model.h5")
    np.testing.assert_allclose(again.predict(X), model.predict(X))
    assert again.train_on_batch(X, Y) == pytest.approx(model.train_on_batch(X, Y))
    assert again.train_on_batch(X, Y) == pytest.approx(model.train_on_batch(X, Y))


@pytest.mark.parametrize("name", ["weights.h5", "weights"])
def test_weights_in_a_file(tmp_path, name):
    model, other = perceptron(), perceptron()
    model.save_weights(tmp_path / name)
    other.load_weights(tmp_path / name)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_code_in_files_is_not_run(tmp_path):
    model = tf.keras.Sequential([L.Lambda(lambda x: x * 2, input_shape=(4,))])
    config = json.loads(model.to_json())
    config["config"]["layers"][0]["config"]["function"][0] = "AAAA"
    with pytest.raises(ValueError, match="bytecode"):
        tf.keras.models.model_from_json(json.dumps(config))


def test_own_classes_are_found_by_name(tmp_path):
    class Twice(L.Layer):
        def call(self, x):
            return 2 * x

    tf.keras.Sequential([Twice(input_shape=(4,))]).save(tmp_path / "m.h5")
    with pytest.raises(ValueError, match="Unknown layer: Twice"):
        tf.keras.models.load_model(tmp_path / "m.h5")
    loaded = tf.keras.models.load_model(tmp_path / "m.h5", custom_objects={"Twice": Twice})
    np.testing.assert_array_equal(loaded.predict(X), 2 * X)


EAGER = """
import numpy as np
import everflow as tf
tf.enable_eager_execution()
L = tf.keras.layers
x = np.ones((6, 2), "float32")
for run_eagerly in (False, True):
    model = tf.keras.Sequential([L.Dense(1, kernel_initializer="zeros", input_shape=(2,)), L.BatchNormalization()])
    model.compile(tf.keras.optimizers.Adam(0.1), "mse", metrics=["mae"], run_eagerly=run_eagerly)
    history = model.fit(x, x[:, :1], epochs=2, batch_size=4, verbose=0, validation_data=(x, x[:, :1]), sample_weight=np.ones(6))
    assert sorted(history.history) == ["loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"]
    assert model.predict(x).shape == (6, 1) and model.optimizer.iterations.numpy() == 4
"""


def test_when_executing_eagerly():
    subprocess.run([sys.executable, "-c", EAGER], check=True)


def test_validation_steps_need_validation_data():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="`validation_steps` should not be specified"):
        model.fit(np.ones([4, 3]), np.ones([4, 1]), validation_steps=2, verbose=0)


def test_parameters_are_counted_after_a_layer_that_did_not_fit():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    with pytest.raises(ValueError):
        model.add(tf.keras.layers.Conv2D(2, 2))
    assert model.count_params() == 8 and [layer.name for layer in model.layers] == ["dense"]
