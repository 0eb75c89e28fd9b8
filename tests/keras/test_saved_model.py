"""Keras models as SavedModels: made again from their configuration, or revived from their traced functions."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import disable_eager_execution, enable_eager_execution

keras = tf.keras


@pytest.fixture(params=["graph", "eager"], autouse=True)
def mode(request):
    resources = tf.resource_variables_enabled()
    tf.reset_default_graph()
    if request.param == "eager":
        enable_eager_execution()
    try:
        yield request.param
    finally:
        if request.param == "eager":
            disable_eager_execution()
            if not resources:
                tf.disable_resource_variables()
        keras.backend.clear_session()


def data():
    rows = np.random.RandomState(0)
    return rows.rand(8, 4).astype("float32"), rows.rand(8, 2).astype("float32")


def sequential():
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Dense(3, input_shape=(4,), activation="relu", activity_regularizer="l1"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(2, kernel_regularizer="l2"),
        ]
    )


def check_same(model, other, x, y):
    np.testing.assert_allclose(other.predict(x), model.predict(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other.evaluate(x, y, verbose=0), model.evaluate(x, y, verbose=0), rtol=1e-5)


def test_a_model_of_known_layers(tmp_path):
    x, y = data()
    model = sequential()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, verbose=0)
    model.save(str(tmp_path / "model"), save_format="tf")
    loaded = keras.models.load_model(str(tmp_path / "model"))
    assert type(loaded) is keras.Sequential and type(loaded.optimizer).__name__ == "Adam"
    check_same(model, loaded, x, y)
    assert len(loaded.fit(x, y, verbose=0).history["loss"]) == 1


def test_a_recurrent_model_with_several_inputs_and_outputs(tmp_path):
    x, y = data()
    layers = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    h = layers.LSTM(3)(layers.Reshape((4, 2))(layers.concatenate([a, b])))
    model = keras.Model([a, b], [layers.Dense(2, name="two")(h), layers.Dense(1, name="one")(h)])
    model.compile("sgd", "mse")
    model.save(str(tmp_path / "model"), save_format="tf")
    loaded = keras.models.load_model(str(tmp_path / "model"))
    for one, other in zip(model.predict([x, x]), loaded.predict([x, x])):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def subclassed():
    class Scale(keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight("w", (int(shape[-1]), 3))

        def call(self, x):
            return tf.matmul(x, self.w)

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale, self.drop, self.out = Scale(), keras.layers.Dropout(0.3), keras.layers.Dense(2)

        def call(self, x, training=None):
            return self.out(self.drop(self.scale(x), training=training))

    return Net()


def test_a_model_of_an_unknown_class_is_revived(tmp_path):
    x, y = data()
    model = subclassed()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="input shapes have not been set"):
        model.save(str(tmp_path / "early"), save_format="tf")
    model.fit(x, y, verbose=0)
    model.save(str(tmp_path / "model"), save_format="tf")
    loaded = keras.models.load_model(str(tmp_path / "model"))
    assert type(loaded).__name__ == "Net" and len(loaded.trainable_weights) == 3
    check_same(model, loaded, x, y)
    assert len(loaded.fit(x, y, verbose=0).history["loss"]) == 1


def test_servers_find_the_model_by_its_names(tmp_path):
    x, y = data()
    model = sequential()
    model.save(str(tmp_path / "model"), save_format="tf")
    with tf.Graph().as_default(), tf.Session() as sess:
        signature = tf.saved_model.loader.load(sess, ["serve"], str(tmp_path / "model")).signature_def[
            "serving_default"
        ]
        (given,), (result,) = signature.inputs.values(), signature.outputs.values()
        served = sess.run(result.name, {given.name: x})
    np.testing.assert_allclose(served, model.predict(x), rtol=1e-5)


def test_graphs_for_training_evaluating_and_serving(tmp_path):
    x, y = data()
    model = sequential()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, verbose=0)
    path = str(tmp_path / "export")
    keras.experimental.export_saved_model(model, path)
    loaded = tf.contrib.saved_model.load_keras_model(path)
    np.testing.assert_allclose(loaded.predict(x), model.predict(x), rtol=1e-5)
    assert loaded.optimizer is None
    loss, error = model.evaluate(x, y, verbose=0)
    with tf.Graph().as_default(), tf.Session() as sess:
        signature = tf.saved_model.loader.load(sess, ["eval"], path).signature_def["eval"]
        feeds = {signature.inputs["dense_input"].name: x, signature.inputs["dense_1_target"].name: y}
        found = sess.run(
            [signature.outputs["loss"].name, signature.outputs["metrics/mean_absolute_error/update_op"].name], feeds
        )
        assert found[0] == pytest.approx(loss, rel=1e-5)
        assert sess.run(signature.outputs["metrics/mean_absolute_error/value"].name) == pytest.approx(error, rel=1e-5)
    with tf.Graph().as_default(), tf.Session() as sess:
        signatures = tf.saved_model.loader.load(sess, ["train"], path).signature_def
        feeds = {
            signatures["train"].inputs["dense_input"].name: x,
            signatures["train"].inputs["dense_1_target"].name: y,
        }
        before = sess.run("global_step:0")
        sess.run(signatures["__saved_model_train_op"].outputs["__saved_model_train_op"].name, feeds)
        assert sess.run("global_step:0") == before + 1 == 2


def test_what_can_only_be_served(tmp_path):
    x, y = data()
    model = subclassed()
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
    path = str(tmp_path / "export")
    with pytest.raises(NotImplementedError, match="only be exported for serving"):
        keras.experimental.export_saved_model(model, path)
    keras.experimental.export_saved_model(model, path, serving_only=True)
    expected = model.predict(x)
    with tf.Graph().as_default(), tf.Session() as sess:
        signature = tf.saved_model.loader.load(sess, ["serve"], path).signature_def["serving_default"]
        (result,), (given,) = signature.outputs.values(), signature.inputs.values()
        np.testing.assert_allclose(sess.run(result.name, {given.name: x}), expected, rtol=1e-5)


def test_a_loaded_model_is_used_where_nobody_speaks_of_training(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones"), tf.keras.layers.Dropout(0.9)]
        )
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(model, str(tmp_path))
        loaded = tf.saved_model.load_v2(str(tmp_path))
        outputs = loaded(tf.ones([1, 3]))
        session.run([v.initializer for v in loaded.variables])
        assert session.run(outputs).tolist() == [[3.0, 3.0]]


class _Normalized(keras.Model):
    def __init__(self):
        super().__init__()
        self.normalize = keras.layers.BatchNormalization()

    def call(self, inputs):
        return self.normalize(inputs)


def test_a_model_with_a_call_of_its_own_asks_for_no_phase_in_the_file(tmp_path):
    x, _ = data()
    model = _Normalized()
    model.compile("sgd", "mse")
    model.train_on_batch(x, x)
    model.save(str(tmp_path / "saved"), save_format="tf")
    assert tf.saved_model.contains_saved_model(str(tmp_path / "saved"))


def test_yaml_has_what_layers_hold_as_plain_lists():
    pytest.importorskip("yaml")
    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.BatchNormalization()(x))
    assert keras.models.model_from_yaml(model.to_yaml()).layers[1].axis == [1]
