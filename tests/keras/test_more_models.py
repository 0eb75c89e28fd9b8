"""Models that are ready to use, and Keras models as estimators of scikit-learn."""

import numpy as np
import pytest

import everflow as tf

keras = tf.keras
X = np.random.RandomState(0).rand(40, 3).astype("f")


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()


def test_linear_model_of_several_inputs():
    model = keras.experimental.LinearModel()
    model.compile(keras.optimizers.SGD(0.2), "mse")
    y = X @ [1.0, 2.0, -1.0] + 0.5
    history = model.fit([X, X[:, :1]], y, epochs=60, verbose=0)
    assert history.history["loss"][-1] < 1e-2
    assert [w.shape.as_list() for w in model.weights] == [[3, 1], [1, 1], [1]]


def test_wide_and_deep_with_two_optimizers():
    linear = keras.experimental.LinearModel()
    deep = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model = keras.experimental.WideDeepModel(linear, deep)
    model.compile(["sgd", "adam"], "mse")
    model.fit([X, X], X.sum(1), epochs=2, verbose=0)
    assert model.predict([X, X]).shape == (40, 1)
    assert len(model.weights) == 6


def build(units=4):
    model = keras.Sequential(
        [keras.layers.Dense(units, activation="tanh", input_shape=(3,)), keras.layers.Dense(2, activation="softmax")]
    )
    model.compile(keras.optimizers.Adam(0.05), "categorical_crossentropy", metrics=["accuracy"])
    return model


def test_classifier():
    classifier = keras.wrappers.scikit_learn.KerasClassifier(build, units=6, epochs=40, verbose=0)
    labels = np.where(X[:, 0] > 0.5, "high", "low")
    classifier.fit(X, labels)
    assert classifier.score(X, labels) > 0.9
    assert set(classifier.predict(X)) == {"high", "low"}
    assert classifier.predict_proba(X).shape == (40, 2)
    assert classifier.get_params()["units"] == 6
    with pytest.raises(ValueError, match="colour is not a legal parameter"):
        classifier.set_params(colour=1)


def test_regressor():
    def build():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        model.compile(keras.optimizers.SGD(0.2), "mse")
        return model

    regressor = keras.wrappers.scikit_learn.KerasRegressor(build, epochs=60, verbose=0)
    regressor.fit(X, X.sum(1))
    assert regressor.score(X, X.sum(1)) > -0.01
    assert regressor.predict(X).shape == (40,)
