"""`_TrainingEndpoint`, an output of a model by its name inside TensorFlow."""

import everflow as tf
from everflow.keras import losses
from everflow.legacy.inner.keras_engine.endpoints import _TrainingEndpoint


def test_an_output_with_its_target_and_weights():
    with tf.Graph().as_default():
        output = tf.keras.layers.Dense(2)(tf.keras.Input([3]))
        endpoint = _TrainingEndpoint(output, "out", losses.MeanSquaredError())
        endpoint.create_training_target(None)
        assert endpoint.has_feedable_training_target() and endpoint.feed_output_shape == (None, 2)
        endpoint.populate_sample_weight(None, "temporal")
        assert endpoint.sample_weight.shape.as_list() == [None, None] and not endpoint.sample_weights_mismatch()
        assert _TrainingEndpoint(output, "out", None).should_skip_target()
