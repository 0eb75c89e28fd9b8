"""Models on bytes: from ranges in the graph, and after training by typical inputs; smaller weights."""

import numpy as np
import pytest

import everflow as tf
from tests.lite.quantized_models import QUANTIZED, bytes_for
from tests.lite.test_conversion import ops_of, run


@pytest.mark.parametrize("name", QUANTIZED)
def test_bytes_follow_the_fake_quantized_graph(name):
    with tf.Session() as sess:
        inputs, outputs = QUANTIZED[name](tf)
        converter = tf.lite.TFLiteConverter.from_session(sess, inputs, outputs)
        converter.inference_type = tf.uint8
        converter.quantized_input_stats = {"x": (128.0, 127.0)}
        model = converter.convert()
        data = bytes_for(inputs[0].shape.as_list())
        expected = sess.run(outputs[0], {inputs[0]: (data.astype(np.float32) - 128) / 127})
    (got,) = run(model, [data])
    details = tf.lite.Interpreter(model_content=model).get_output_details()[0]
    if got.dtype == np.int32:
        assert (got == expected).mean() > 0.9
        return
    assert got.dtype == np.uint8
    scale, zero = details["quantization"]
    # A slope of the leaky relu is itself rounded, and its positive side copied.
    steps = 3.6 if name != "leaky relu" else 200
    np.testing.assert_allclose(
        (got.astype(np.float32) - zero) * scale,
        np.clip(expected, (0 - zero) * scale, (255 - zero) * scale),
        atol=steps * scale,
    )


def network():
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [2, 8, 8, 8], name="x")
    h = tf.nn.relu(
        tf.nn.bias_add(
            tf.nn.conv2d(x, tf.constant(rng.randn(3, 3, 8, 16) * 0.2, tf.float32), [1, 1, 1, 1], "SAME"),
            tf.constant(rng.randn(16), tf.float32),
        )
    )
    h = tf.nn.relu6(
        tf.nn.depthwise_conv2d(h, tf.constant(rng.randn(3, 3, 16, 8) * 0.2, tf.float32), [1, 2, 2, 1], "SAME")
    )
    h = tf.concat(
        [tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), tf.nn.avg_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")],
        3,
    )
    y = tf.nn.softmax(tf.matmul(tf.reshape(h, [2, -1]), tf.constant(rng.randn(1024, 4) * 0.02, tf.float32)), name="y")
    return x, y


def samples():
    rng = np.random.RandomState(3)
    for _ in range(8):
        yield [rng.uniform(-1, 1, (2, 8, 8, 8)).astype(np.float32)]


@pytest.fixture
def converted():
    """A function that converts the network after changing the converter: (model, what the graph gives, data)."""

    def convert(change):
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = network()
            data = next(samples())[0]
            expected = sess.run(y, {x: data})
            converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
            change(converter)
            return converter.convert(), expected, data

    return convert


def test_weights(converted):
    plain, expected, data = converted(lambda c: None)
    model, _, _ = converted(lambda c: setattr(c, "post_training_quantize", True))
    assert len(model) < 0.35 * len(plain)
    assert ops_of(model).count("DEQUANTIZE") == 1  # the depthwise convolution has no form for 8-bit weights
    np.testing.assert_allclose(run(model, [data])[0], expected, atol=0.02)


def test_halves(converted):
    def change(c):
        c.optimizations, c.target_spec.supported_types = [tf.lite.Optimize.DEFAULT], [tf.lite.constants.FLOAT16]

    model, expected, data = converted(change)
    np.testing.assert_allclose(run(model, [data])[0], expected, atol=2e-3)


def test_integers_by_typical_inputs(converted):
    def change(c):
        c.optimizations, c.representative_dataset = [tf.lite.Optimize.DEFAULT], tf.lite.RepresentativeDataset(samples)
        c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]

    model, expected, data = converted(change)
    (got,) = run(model, [data])
    assert got.dtype == np.float32
    assert ops_of(model)[0] == "QUANTIZE" and ops_of(model)[-1] == "DEQUANTIZE"
    np.testing.assert_allclose(got, expected, atol=0.03)

    def bytes_outside(c):
        change(c)
        c.inference_input_type = c.inference_output_type = tf.uint8

    model, expected, data = converted(bytes_outside)
    scale, zero = tf.lite.Interpreter(model_content=model).get_input_details()[0]["quantization"]
    (got,) = run(model, [np.clip(np.round(data / scale + zero), 0, 255).astype(np.uint8)])
    np.testing.assert_allclose(got / 256, expected, atol=0.03)


def test_ops_that_stay_floats():
    x = tf.placeholder(tf.float32, [1, 4], name="x")
    with tf.Session() as sess:
        y = tf.exp(tf.matmul(x, tf.constant(np.eye(4), tf.float32))) + 1.0
        converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([np.full((1, 4), v, np.float32)] for v in (-1, 1))
        model = converter.convert()
        assert "EXP" in ops_of(model)
        np.testing.assert_allclose(run(model, [np.full((1, 4), 0.5, np.float32)])[0], np.exp(0.5) + 1, rtol=0.02)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        with pytest.raises(RuntimeError, match="EXP"):
            converter.convert()


def test_bytes_into_a_float_model(converted):
    def change(c):
        c.inference_input_type, c.quantized_input_stats = tf.uint8, {"x": (128.0, 127.0)}

    model, _, _ = converted(change)
    details = tf.lite.Interpreter(model_content=model).get_input_details()[0]
    assert details["dtype"] is np.uint8 and details["quantization"][1] == 128


def test_what_quantization_needs(converted):
    def change(**attributes):
        def apply(c):
            for name, value in attributes.items():
                setattr(c, name, value)

        return apply

    with pytest.raises(ValueError, match="std_dev and mean must be defined"):
        converted(change(inference_type=tf.uint8))
    with pytest.raises(ValueError, match="not available for input tensors 'x'"):
        converted(change(inference_type=tf.uint8, quantized_input_stats={"z": (0, 1)}))
    with pytest.raises(Exception, match="does not have MinMax information"):
        converted(change(inference_type=tf.uint8, quantized_input_stats={"x": (128.0, 127.0)}))
    model, _, _ = converted(
        change(inference_type=tf.uint8, quantized_input_stats={"x": (128.0, 127.0)}, default_ranges_stats=(-6, 6))
    )
    assert tf.lite.Interpreter(model_content=model).get_output_details()[0]["quantization"] == (1 / 256, 0)
    with pytest.raises(ValueError, match="representative_dataset is required"):
        converted(change(target_spec=tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8])))
    with pytest.raises(RuntimeError, match="Unable to find min/max value"):
        converted(change(optimizations=[tf.lite.Optimize.DEFAULT], representative_dataset=lambda: iter([])))
