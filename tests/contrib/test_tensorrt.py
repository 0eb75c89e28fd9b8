"""tf.contrib.tensorrt without TensorRT: graphs are frozen, and stay what they are."""

import pytest

import everflow as tf
from everflow.contrib.tensorrt import trt_convert


def test_a_graph_stays_as_it_is():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.nn.relu(tf.placeholder(tf.float32, [2], name="x")), name="y")
    found = tf.contrib.tensorrt.create_inference_graph(graph.as_graph_def(), ["y"], precision_mode="fp16")
    assert found == graph.as_graph_def()


def test_a_saved_model_is_frozen_and_saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, tf.get_variable("w", initializer=3.0), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    converter = trt_convert.TrtGraphConverter(input_saved_model_dir=str(tmp_path / "model"))
    assert not [node for node in converter.convert().node if "Variable" in node.op]
    converter.save(str(tmp_path / "converted"))
    predict = tf.contrib.predictor.from_saved_model(str(tmp_path / "converted"))
    assert predict({"x": 2.0})["y"] == 6.0


def test_settings():
    config = trt_convert.get_tensorrt_rewriter_config(trt_convert.DEFAULT_TRT_CONVERSION_PARAMS)
    assert config.custom_optimizers[0].parameter_map["precision_mode"].s == b"FP32"
    with pytest.raises(ValueError, match="precision mode"):
        trt_convert.TrtGraphConverter(input_graph_def=tf.GraphDef(), precision_mode="FP8")
    with pytest.raises(ValueError, match="input_saved_model_dir"):
        trt_convert.TrtGraphConverter()
    with pytest.raises(ValueError, match="calibrate"):
        trt_convert.TrtGraphConverter(input_graph_def=tf.GraphDef()).calibrate(["y"], 1)
    with pytest.raises(AssertionError):
        trt_convert.TrtGraphConverterV2("model")
