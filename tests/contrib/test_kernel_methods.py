"""tf.contrib.kernel_methods: random features and the multi-class hinge loss."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def test_features_are_drawn_from_the_seed():
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 3, 0.5, seed=4)
    with tf.Session() as session:
        features = session.run(mapper.map(tf.constant([[1.0, 2.0]])))
    np.testing.assert_allclose(features, [[0.06643567, 0.68794256, -0.7942799]], rtol=1e-5)
    with pytest.raises(Exception, match="expected 2 input features, got 3"):
        mapper.map(tf.zeros([1, 3]))


def test_hinge_loss():
    logits = tf.constant([[1.2, -1.4, -1.0], [1.4, 1.8, 4.0], [0.5, 1.8, -1.0]])
    loss = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss(tf.constant([0, 1, 2]), logits)
    weighted = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss(
        tf.constant([[0], [1], [2]]), logits, weights=tf.constant([1.0, 2.0, 0.0]), reduction="none"
    )
    with tf.Session() as session:
        assert session.run(loss) == pytest.approx(2.3333333)
        np.testing.assert_allclose(session.run(weighted), [0, 6.4, 0], rtol=1e-6)
    assert tf.losses.get_losses() == [loss, weighted]


def test_a_classifier_over_mapped_features():
    # Points inside of a circle and outside of it: no line tells them apart.
    x = np.random.RandomState(0).uniform(-1, 1, [200, 2]).astype(np.float32)
    y = (np.square(x).sum(1) < 0.5).astype(np.int64)
    column = tf.contrib.layers.real_valued_column("x", dimension=2)
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 100, stddev=0.7)
    optimizer = tf.train.AdamOptimizer(0.05)

    def input_fn():
        return {"x": tf.constant(x)}, tf.constant(y)

    def accuracy(mappers):
        estimator = tf.contrib.kernel_methods.KernelLinearClassifier(
            [column], optimizer=optimizer, kernel_mappers=mappers
        )
        estimator.fit(input_fn=input_fn, steps=100)
        assert len(list(estimator.predict_classes(input_fn=lambda: input_fn()[0]))) == 200
        return estimator.evaluate(input_fn=input_fn, steps=1)["accuracy"]

    assert accuracy({column: [mapper]}) > 0.9 > accuracy(None)
    with pytest.raises(ValueError, match="feature_columns"):
        tf.contrib.kernel_methods.KernelLinearClassifier()
