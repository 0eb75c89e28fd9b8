"""tf.keras.estimator: a compiled model trains, evaluates, predicts and is exported as an Estimator."""

import numpy as np
import pytest

import everflow as tf

keras = tf.keras
X = np.random.RandomState(0).rand(16, 3).astype("f")
Y = X.sum(1, keepdims=True)


@pytest.fixture
def model():
    keras.backend.clear_session()
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,), name="out")])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    model.set_weights([np.full((3, 1), 0.5), np.zeros(1)])
    return model


def batches(epochs=None, labels=True):
    return tf.estimator.inputs.numpy_input_fn(
        {"out_input": X}, Y if labels else None, batch_size=8, num_epochs=epochs, shuffle=False
    )


def test_it_goes_on_from_the_weights_of_the_model(model, tmp_path):
    model.set_weights([np.ones((3, 1)), np.zeros(1)])
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(batches(), steps=1)
    result = estimator.evaluate(batches(1))
    assert result["loss"] == pytest.approx(0, abs=1e-6)
    assert result["mean_absolute_error"] == pytest.approx(0, abs=1e-3)
    assert result["global_step"] == 1


def test_train_predict_export(model, tmp_path):
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path / "model"))
    estimator.train(batches(), steps=200)
    predictions = [p["out"] for p in estimator.predict(batches(1, labels=False))]
    np.testing.assert_allclose(predictions, Y, atol=0.2)
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"out_input": tf.placeholder(tf.float32, [None, 3])}
        )
    path = estimator.export_savedmodel(str(tmp_path / "export"), receiver)
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.loader.load(session, ["serve"], path).signature_def["serving_default"]
        feed = {signature.inputs["out_input"].name: X}
        np.testing.assert_allclose(session.run(signature.outputs["out"].name, feed), predictions, rtol=1e-5)


def test_refused(model):
    with pytest.raises(ValueError, match="Either `keras_model` or `keras_model_path`"):
        keras.estimator.model_to_estimator()
    with pytest.raises(ValueError, match="has not been compiled"):
        keras.estimator.model_to_estimator(keras.Sequential([keras.layers.Dense(1, input_shape=(2,))]))
