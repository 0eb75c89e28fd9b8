"""The models that tests of subclassed models are made of."""

import numpy as np
import pytest

import everflow as tf
from everflow.legacy.inner.keras_testing import subclassed_models as models


@pytest.mark.parametrize(
    ("make", "weights"),
    [
        (lambda: models.SimpleTestModel(num_classes=2, use_bn=True, use_dp=True), 8),
        (lambda: models.NestedTestModel1(), 16),
        (lambda: models.NestedTestModel2(), 16),
        (lambda: models.get_nested_model_3(4, 2), 16),
    ],
)
def test_they_train(make, weights):
    model = make()
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 4)), np.zeros((8, 2)), verbose=0)
    assert len(model.weights) == weights
    assert model.predict(np.ones((3, 4))).shape == (3, 2)


def test_two_inputs_and_outputs():
    model = models.MultiIOTestModel(use_bn=True, use_dp=True)
    model.compile("sgd", "mse")
    x = np.ones((4, 4))
    model.fit([x, x], [np.zeros((4, 2)), np.zeros((4, 3))], verbose=0)
    assert [y.shape for y in model.predict([x, x])] == [(4, 2), (4, 3)]


def test_arguments_besides_the_inputs():
    model, x = models.CustomCallModel(), tf.ones((2, 3))
    plain, fiddled = model(x, x), model(x, x, fiddle_with_output="yes")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        plain, fiddled = sess.run([plain, fiddled])
    np.testing.assert_allclose(fiddled, 10 * plain)
    assert models.SimpleConvTestModel(3)(tf.ones((1, 8, 8, 1))).shape.as_list() == [1, 3]
    assert models.TrainingMaskingModel()(x).shape.as_list() == [2, 1]
    with pytest.raises(TypeError):
        models.TrainingNoDefaultModel()(x)
