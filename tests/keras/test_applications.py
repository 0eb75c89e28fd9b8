"""tf.keras.applications: sizes of models, what inputs they take, images on their scale, and predictions by name."""

import json

import numpy as np
import pytest

import everflow as tf

A, K = tf.keras.applications, tf.keras.backend


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()


@pytest.mark.parametrize(
    "build, parameters, last",
    [
        (lambda: A.VGG16(weights=None), 138357544, "predictions"),
        (lambda: A.MobileNet(weights=None, alpha=0.5, depth_multiplier=2), 2159672, "act_softmax"),
        (lambda: A.MobileNetV2(weights=None, alpha=0.5), 1987224, "Logits"),
        (lambda: A.ResNet50(weights=None, include_top=False, pooling="max"), 23587712, "max_pool"),
        (lambda: A.Xception(weights=None, classes=10, input_shape=(80, 80, 3)), 20881970, "predictions"),
    ],
)
def test_parameters(build, parameters, last):
    model = build()
    assert model.count_params() == parameters
    assert model.layers[-1].name == last


def test_a_small_model_predicts():
    model = A.MobileNetV2(weights=None, alpha=0.35, input_shape=(32, 32, 3), classes=4)
    assert model.predict(np.zeros((2, 32, 32, 3))).shape == (2, 4)


def test_on_a_tensor_of_ones_own():
    images = tf.keras.layers.Input((64, 64, 3))
    model = A.MobileNet(weights=None, include_top=False, input_tensor=images, input_shape=(64, 64, 3), alpha=0.25)
    assert model.inputs[0] is images
    assert model.output_shape == (None, 2, 2, 256)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"weights": "nowhere"}, "path to the weights file"),
        ({"classes": 10}, "`classes` should be 1000"),
        ({"weights": None, "include_top": False, "input_shape": (10, 10, 3)}, "at least 32x32"),
        ({"input_shape": (100, 100, 3)}, "should be \\(224, 224, 3\\)"),
        ({"include_top": False, "input_shape": (224, 224, 5)}, "must have 3 channels"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        A.VGG16(**arguments)


@pytest.mark.parametrize("module", ["vgg16", "mobilenet", "densenet"])
def test_arrays_and_tensors_are_scaled_alike(module):
    x = np.arange(12.0, dtype="f").reshape(1, 2, 2, 3)
    preprocess = getattr(A, module).preprocess_input
    np.testing.assert_allclose(K.eval(preprocess(K.constant(x))), preprocess(x.copy()), rtol=1e-5)


def test_predictions_by_name(tmp_path, monkeypatch):
    path = tmp_path / "classes.json"
    path.write_text(json.dumps({str(i): [f"n{i}", f"thing {i}"] for i in range(1000)}))
    monkeypatch.setattr(A.imagenet_utils, "get_file", lambda *args, **kwargs: str(path))
    monkeypatch.setattr(A.imagenet_utils, "_class_index", None)
    predictions = np.zeros((1, 1000))
    predictions[0, [7, 3]] = 0.9, 0.1
    assert A.vgg16.decode_predictions(predictions, top=2) == [[("n7", "thing 7", 0.9), ("n3", "thing 3", 0.1)]]
    with pytest.raises(ValueError, match="expects a batch of predictions"):
        A.vgg16.decode_predictions(np.zeros((1, 10)))
