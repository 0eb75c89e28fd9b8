"""Recurrent networks as one op: shapes and gradients."""

import numpy as np
import pytest

import everflow as tf

R = tf.raw_ops


def network(mode="lstm", direction="unidirectional", version="CudnnRNN", training=True, units=3, features=2):
    directions = 2 if direction == "bidirectional" else 1
    size = R.CudnnRNNParamsSize(
        num_layers=1, num_units=units, input_size=features, T=tf.float32, S=tf.int32, rnn_mode=mode, direction=direction
    )
    params = tf.random_uniform(tf.stack([tf.reshape(size, [])]), -0.5, 0.5, seed=1)
    params = tf.reshape(params, [-1])
    h = tf.zeros([directions, 4, units])
    c = h if mode == "lstm" else tf.zeros([])
    x = tf.constant(np.linspace(-1, 1, 5 * 4 * features).reshape(5, 4, features), tf.float32)
    options = {"rnn_mode": mode, "direction": direction, "is_training": training, "seed": 1}
    return x, params, getattr(R, version)(input=x, input_h=h, input_c=c, params=params, **options)


@pytest.mark.parametrize("version", ["CudnnRNN", "CudnnRNNV2"])
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh"])
def test_shapes(mode, direction, version):
    with tf.Graph().as_default():
        _, _, made = network(mode, direction, version)
        directions = 2 if direction == "bidirectional" else 1
        assert made.output.shape.as_list() == [5, 4, 3 * directions]
        assert made.output_h.shape.as_list() == [directions, 4, 3]
        assert made.output_c.shape.as_list() == ([directions, 4, 3] if mode == "lstm" else [])


@pytest.mark.parametrize("version", ["CudnnRNN", "CudnnRNNV2"])
@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_gradients_are_slopes(sess, mode, version):
    x, params, made = network(mode, version=version)
    loss = tf.reduce_sum(tf.sin(made.output))
    values = sess.run([x, params])
    of_x, of_params = sess.run(tf.gradients(loss, [x, params]), dict(zip([x, params], values)))
    random = np.random.RandomState(0)
    for i, grad in enumerate((of_x, of_params)):
        step = random.uniform(-1, 1, grad.shape).astype(np.float32) * 1e-2
        ends = [
            sess.run(loss, dict(zip([x, params], [v + sign * step if j == i else v for j, v in enumerate(values)])))
            for sign in (1, -1)
        ]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2, np.sum(grad * step), rtol=2e-2, atol=1e-4)


def test_there_is_none_without_training():
    with tf.Graph().as_default():
        x, _, made = network(training=False)
        with pytest.raises(ValueError):
            tf.gradients(made.output, x)


def test_the_size_of_parameters(sess):
    _, params, _ = network()
    assert sess.run(params).shape == (4 * (3 * 2 + 3 * 3 + 2 * 3),)
