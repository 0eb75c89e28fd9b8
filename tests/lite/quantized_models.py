"""Models with the ranges that quantization needs, as training with fake quantization leaves them. Their input `x` is in
[-1, 1].
"""

import numpy as np


def _fq(tf, t, low=-2.0, high=2.0):
    return tf.fake_quant_with_min_max_args(t, low, high)


def _weights(tf, *shape, seed=0, spread=0.5):
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype(np.float32) * spread)


IMAGE = (1, 6, 6, 4)


def _model(function, shape=IMAGE, low=-2.0, high=2.0, last=True):
    def build(tf):
        x = tf.placeholder(tf.float32, shape, name="x")
        y = function(tf, x)
        return [x], [tf.identity(_fq(tf, y, low, high) if last else y, name="y")]

    return build


def _conv(tf, x, relu=lambda t: t, stride=1, padding="SAME", seed=0):
    w = _fq(tf, _weights(tf, 3, 3, 4, 5, seed=seed), -1.5, 1.5)
    return relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, stride, stride, 1], padding), _weights(tf, 5, seed=1)))


def _two(tf, x):
    """Two arrays with ranges of their own."""
    return _fq(tf, x + _weights(tf, 4, seed=8), -1.7, 1.9), _fq(tf, x * x, -0.1, 1.3)


QUANTIZED = {
    "conv": _model(lambda tf, x: _conv(tf, x), low=-6.0, high=6.0),
    "conv relu": _model(lambda tf, x: _conv(tf, x, tf.nn.relu, 2), low=0.0, high=5.0),
    "conv relu6 valid": _model(lambda tf, x: _conv(tf, x, tf.nn.relu6, 1, "VALID"), low=0.0, high=6.0),
    "conv relu6 clipped": _model(lambda tf, x: _conv(tf, x, tf.nn.relu6), low=-1.0, high=9.0),
    "depthwise": _model(lambda tf, x: tf.nn.relu6(tf.nn.depthwise_conv2d(x, _fq(tf, _weights(tf, 3, 3, 4, 2)), [1, 1, 1, 1], "SAME")), low=0.0, high=4.0),
    "dense": _model(lambda tf, x: tf.matmul(x, _fq(tf, _weights(tf, 7, 5), -1.2, 1.2)) + _weights(tf, 5, seed=3), (3, 7), low=-4.0, high=4.0),
    "dense relu": _model(lambda tf, x: tf.nn.relu(tf.matmul(x, _fq(tf, _weights(tf, 7, 5), -1.2, 1.2))), (3, 7), low=0.0, high=4.0),
    "average pool": _model(lambda tf, x: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), last=False),
    "max pool": _model(lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), last=False),
    "add": _model(lambda tf, x: tf.add(*_two(tf, x)), low=-0.2, high=2.2),
    "add relu": _model(lambda tf, x: tf.nn.relu(tf.subtract(*_two(tf, x))), low=0.0, high=1.5),
    "subtract": _model(lambda tf, x: tf.subtract(*_two(tf, x)), low=-1.4, high=1.0),
    "multiply": _model(lambda tf, x: tf.multiply(*_two(tf, x)), low=-0.1, high=1.2),
    "add a constant": _model(lambda tf, x: x + _weights(tf, 4), low=-3.0, high=3.0),
    "concat": _model(lambda tf, x: tf.concat(_two(tf, x), 3), last=False),
    "softmax": _model(lambda tf, x: tf.nn.softmax(_fq(tf, x * 4.0, -4.0, 4.0)), (3, 7), last=False),
    "sigmoid": _model(lambda tf, x: tf.sigmoid(_fq(tf, x * 4.0, -4.0, 4.0)), (3, 7), last=False),
    "tanh": _model(lambda tf, x: tf.tanh(_fq(tf, x * 4.0, -4.0, 4.0)), (3, 7), last=False),
    "log softmax": _model(lambda tf, x: tf.nn.log_softmax(_fq(tf, x * 4.0, -4.0, 4.0)), (3, 7), last=False),
    "relu": _model(lambda tf, x: tf.nn.relu(x), low=0.0, high=1.0),
    "leaky relu": _model(lambda tf, x: tf.nn.leaky_relu(x, 0.3), low=-0.4, high=1.0),
    "mean": _model(lambda tf, x: tf.reduce_mean(x, [1, 2]), low=-0.5, high=0.5),
    "mean kept": _model(lambda tf, x: tf.reduce_mean(x, [1, 2], keepdims=True), low=-0.5, high=0.5),
    "mean in the same range": _model(lambda tf, x: tf.reduce_mean(x, [1, 2]), last=False),
    "mean kept in the same range": _model(lambda tf, x: tf.reduce_mean(x, [1, 2], keepdims=True), last=False),
    "mean of channels": _model(lambda tf, x: tf.reduce_mean(x, 3), last=False),
    "mean of channels kept": _model(lambda tf, x: tf.reduce_mean(x, [3], keepdims=True), last=False),
    "sum": _model(lambda tf, x: tf.reduce_sum(x, 3), low=-4.0, high=4.0),
    "pad": _model(lambda tf, x: tf.pad(x, [[0, 0], [1, 2], [1, 0], [0, 0]]), last=False),
    "reshape": _model(lambda tf, x: tf.reshape(x, [4, 36]), last=False),
    "transpose": _model(lambda tf, x: tf.transpose(x, [0, 3, 1, 2]), last=False),
    "slice": _model(lambda tf, x: x[:, 1:4, ::2], last=False),
    "resize": _model(lambda tf, x: tf.image.resize_bilinear(x, [9, 11]), last=False),
    "resize nearest": _model(lambda tf, x: tf.image.resize_nearest_neighbor(x, [9, 11]), last=False),
    "maximum": _model(lambda tf, x: tf.maximum(x, 0.25), last=False),
    "argmax": _model(lambda tf, x: tf.argmax(x, 3, output_type=tf.int32), last=False),
    "l2 normalize": _model(lambda tf, x: tf.nn.l2_normalize(x, -1), last=False),
    "space to depth": _model(lambda tf, x: tf.space_to_depth(x, 2), last=False),
    "network": _model(
        lambda tf, x: tf.nn.softmax(
            _fq(
                tf,
                tf.matmul(
                    tf.reshape(tf.nn.max_pool(_fq(tf, _conv(tf, x, tf.nn.relu6), 0.0, 6.0), [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), [1, 45]),
                    _fq(tf, _weights(tf, 45, 6, seed=4), -1.6, 1.6),
                ),
                -16.0,
                16.0,
            )
        ),
        last=False,
    ),
}  # fmt: skip


def bytes_for(shape, seed=5):
    return np.random.RandomState(seed).randint(0, 256, shape).astype(np.uint8)
