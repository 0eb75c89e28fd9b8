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
