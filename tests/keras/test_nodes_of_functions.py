"""What models and the backend's functions add to a graph."""

import numpy as np

import everflow as tf

KL = tf.keras.layers


def _names(run):
    with tf.Graph().as_default() as graph:
        x = KL.Input([4])
        run(tf.keras.Model(x, KL.Dense(2)(x)))
        return [op.name for op in graph.get_operations()]


def test_predictions_need_no_learning_phase():
    assert "keras_learning_phase" not in _names(lambda model: model.predict(np.ones([2, 4])))


def test_training_asks_for_it_before_the_optimizer_draws():
    def fit(model):
        model.compile("sgd", "mse")
        model.evaluate(np.ones([2, 4]), np.ones([2, 2]), verbose=0)
        model.fit(np.ones([2, 4]), np.ones([2, 2]), verbose=0)

    names = _names(fit)
    assert names.index("keras_learning_phase") < next(i for i, name in enumerate(names) if name.startswith("training/"))


def test_layers_see_training_only_in_fit():
    with tf.Graph().as_default():
        x = KL.Input([4])
        model = tf.keras.Model(x, KL.Dropout(0.999)(x))
        model.compile("sgd", "mse")
        ones = np.ones([8, 4])
        assert model.evaluate(ones, ones, verbose=0) == 0
        np.testing.assert_array_equal(model.predict(ones), ones)
        assert model.train_on_batch(ones, ones) > 0


def test_gradients_stand_with_their_ops():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        (gradient,) = tf.keras.backend.gradients(tf.square(x), [x])
        assert gradient.op.colocation_groups() == [b"loc:@Square"]
