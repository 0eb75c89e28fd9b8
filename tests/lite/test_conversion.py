"""Conversion to TensorFlow Lite: the model gives what the session gave, for every kind of op; what comes out of which
source.
"""

import numpy as np
import pytest

import everflow as tf
from tests.lite.models import MODELS, feeds

UNSUPPORTED = {"scatter_nd": "ScatterNd"}


def run(model, values):
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]


def ops_of(model):
    from everflow.formats import tflite

    read = tflite.read_model(model)
    return [tflite.op_name(read.operator_codes[o.opcode_index]) for o in read.subgraphs[0].operators]


@pytest.mark.parametrize("name", MODELS)
def test_the_model_computes_what_the_graph_does(name):
    with tf.Session() as sess:
        tf.set_random_seed(1)
        inputs, outputs = MODELS[name](tf)
        sess.run(tf.global_variables_initializer())
        values = feeds(inputs)
        expected = sess.run(outputs, dict(zip(inputs, values, strict=True)))
        converter = tf.lite.TFLiteConverter.from_session(sess, inputs, outputs)
        if name in UNSUPPORTED:
            with pytest.raises(Exception, match=f"custom implementations: {UNSUPPORTED[name]}"):
                converter.convert()
            return
        got = run(converter.convert(), values)
    for mine, want in zip(got, expected, strict=True):
        assert mine.shape == want.shape
        np.testing.assert_allclose(mine, want, rtol=1e-4, atol=1e-5)


@pytest.fixture
def dense():
    """A session with a layer: x, y and the session."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    kernel = tf.get_variable("kernel", initializer=np.arange(12, dtype=np.float32).reshape(4, 3) / 10 - 0.5)
    y = tf.nn.relu(tf.matmul(x, kernel) + tf.constant([0.1, 0.2, -0.3]), name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield x, y, sess


def test_layers_are_fused(dense):
    x, y, sess = dense
    model = tf.lite.TFLiteConverter.from_session(sess, [x], [y]).convert()
    assert ops_of(model) == ["FULLY_CONNECTED"]
    details = tf.lite.Interpreter(model_content=model).get_tensor_details()
    assert [d["name"] for d in details] == ["MatMul_bias", "kernel/transpose", "x", "y"]
    assert details[2]["shape"].tolist() == [1, 4]


def test_batch_norm_goes_into_the_convolution():
    x = tf.placeholder(tf.float32, [1, 8, 8, 3], name="x")
    h = tf.layers.conv2d(x, 4, 3, use_bias=False)
    h = tf.nn.relu6(tf.layers.batch_normalization(h, training=False))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert ops_of(tf.lite.TFLiteConverter.from_session(sess, [x], [h]).convert()) == ["CONV_2D"]


def test_from_frozen_graph(dense, tmp_path):
    x, y, sess = dense
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
    data = np.random.RandomState(0).randn(5, 4).astype(np.float32)
    expected = sess.run(y, {x: data})
    tf.train.write_graph(frozen, str(tmp_path), "g.pb", as_text=False)
    tf.train.write_graph(frozen, str(tmp_path), "g.pbtxt")
    for name in ("g.pb", "g.pbtxt"):
        converter = tf.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / name), ["x"], ["y"], {"x": [5, 4]})
        np.testing.assert_allclose(run(converter.convert(), [data])[0], expected, rtol=1e-5)
    with pytest.raises(ValueError, match="Invalid tensors 'nothing' were found"):
        tf.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "g.pb"), ["nothing"], ["y"])
    with pytest.raises(ValueError, match="found in tensor shapes map"):
        tf.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "g.pb"), ["x"], ["y"], {"q": [1]})
    with pytest.raises(OSError, match="does not exist"):
        tf.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "none.pb"), ["x"], ["y"])
    tf.train.write_graph(sess.graph_def, str(tmp_path), "live.pb", as_text=False)
    with pytest.raises(ValueError, match="Please freeze"):
        tf.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "live.pb"), ["x"], ["y"])


def test_from_saved_model(dense, tmp_path):
    x, y, sess = dense
    tf.saved_model.simple_save(sess, str(tmp_path / "saved"), {"input": x}, {"output": y})
    data = np.ones((1, 4), np.float32)
    expected = sess.run(y, {x: data})
    converter = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "saved"))
    assert converter.get_input_arrays() == ["x"]
    np.testing.assert_allclose(run(converter.convert(), [data])[0], expected, rtol=1e-5)
    with pytest.raises(ValueError, match="SignatureDefs"):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "saved"), signature_key="other")
    with pytest.raises(RuntimeError):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "saved"), tag_set={"other"})


def test_from_keras_model_file(tmp_path):
    pytest.importorskip("h5py")
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, activation="relu", input_shape=(6, 6, 1)),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(2),
        ]
    )
    data = np.random.RandomState(0).rand(1, 6, 6, 1).astype(np.float32)
    expected = model.predict(data)
    model.save(str(tmp_path / "model.h5"))
    converter = tf.lite.TFLiteConverter.from_keras_model_file(str(tmp_path / "model.h5"))
    np.testing.assert_allclose(run(converter.convert(), [data])[0], expected, rtol=1e-4, atol=1e-5)
    assert isinstance(tf.lite.TocoConverter.from_keras_model_file(str(tmp_path / "model.h5")), tf.lite.TFLiteConverter)


def test_toco_convert(dense):
    x, y, sess = dense
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
    assert tf.lite.toco_convert(frozen, [x], [y])[4:8] == b"TFL3"
    data = np.ones((7, 4), np.float32)
    assert run(tf.lite.toco_convert(frozen, [x], [y], input_shapes=[[7, 4]]), [data])[0].shape == (7, 3)
    with pytest.raises(TypeError):
        tf.lite.toco_convert(frozen, [x], [y], nothing=1)


def test_arrays_by_name(dense):
    _, _, sess = dense
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
    converter = tf.lite.TFLiteConverter(frozen, None, None, [("x", [2, 4])], ["y"])
    assert converter.get_input_arrays() == ["x"]
    assert run(converter.convert(), [np.zeros((2, 4), np.float32)])[0].shape == (2, 3)


def test_types_that_no_model_has():
    x = tf.placeholder(tf.float64, [1, 4], name="x")
    with tf.Session() as sess, pytest.raises(ValueError, match="float64"):
        tf.lite.TFLiteConverter.from_session(sess, [x], [x + 1]).convert()


def test_outputs_of_every_kind():
    """An output twice, an input as output, an op's second output, one output before the other."""
    x = tf.placeholder(tf.float32, [1, 4], name="x")
    before = x - 1.0
    outputs = [before, before, x, tf.nn.top_k(x, 2)[1], tf.nn.relu(before), tf.constant([3.0])]
    data = np.array([[1, 4, 0, 2]], np.float32)
    with tf.Session() as sess:
        got = run(tf.lite.TFLiteConverter.from_session(sess, [x], outputs).convert(), [data])
        for mine, want in zip(got, sess.run(outputs, {x: data}), strict=True):
            np.testing.assert_array_equal(mine, want)


def test_a_placeholder_that_is_no_input():
    x, rate = tf.placeholder(tf.float32, [1, 4], name="x"), tf.placeholder(tf.float32, [], name="rate")
    with tf.Session() as sess:
        with pytest.raises(Exception, match="Placeholder rate should be specified by input_arrays"):
            tf.lite.TFLiteConverter.from_session(sess, [x], [x * rate]).convert()
        usual = tf.placeholder_with_default(2.0, [])
        assert run(
            tf.lite.TFLiteConverter.from_session(sess, [x], [x * usual]).convert(), [np.ones((1, 4), np.float32)]
        )[0].tolist() == [[2.0] * 4]


def test_branches_whose_way_is_known():
    """A graph that trains and infers by a switch which is off unless fed: the training side is not converted."""
    x = tf.placeholder(tf.float32, [1, 6, 6, 3], name="x")
    training = tf.placeholder_with_default(False, [])
    h = tf.nn.relu(tf.layers.batch_normalization(tf.layers.conv2d(x, 4, 3), training=training))
    y = tf.cond(
        training,
        lambda: h + 1.0,
        lambda: tf.cond(tf.constant(True), lambda: tf.layers.dropout(h, training=training) * 2.0, lambda: h),
    )
    data = np.random.RandomState(0).randn(1, 6, 6, 3).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        model = tf.lite.TFLiteConverter.from_session(sess, [x], [y]).convert()
        np.testing.assert_allclose(run(model, [data])[0], sess.run(y, {x: data}), rtol=1e-4, atol=1e-5)
    assert ops_of(model) == ["CONV_2D", "MUL"]


def test_loops_are_named():
    x = tf.placeholder(tf.float32, [1, 3, 4], name="x")
    y, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), x, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(Exception, match="custom implementations: .*LoopCond") as caught:
            tf.lite.TFLiteConverter.from_session(sess, [x], [y]).convert()
    assert type(caught.value).__name__ == "ConverterError"


def test_shapes_must_be_known():
    x = tf.placeholder(tf.float32, [None, None], name="x")
    z = tf.placeholder(tf.float32, None, name="z")
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="None is supported in the 1st dimension only"):
            tf.lite.TFLiteConverter.from_session(sess, [x], [x + 1]).convert()
        with pytest.raises(ValueError, match="Provide an input shape for input array 'z'"):
            tf.lite.TFLiteConverter.from_session(sess, [z], [z + 1]).convert()
        with pytest.raises(ValueError, match="must be defined"):
            tf.lite.TFLiteConverter(sess.graph_def, None, None)


def test_ops_without_a_builtin():
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    y = tf.cumsum(tf.linalg.inv(x) + 1.0, exclusive=True)
    with tf.Session() as sess:
        converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
        with pytest.raises(Exception, match="custom implementations: Cumsum, MatrixInverse") as caught:
            converter.convert()
        assert type(caught.value).__name__ == "ConverterError"
        converter.allow_custom_ops = True
        model = converter.convert()
    assert ops_of(model) == ["MatrixInverse", "ADD", "Cumsum"]
    with pytest.raises(RuntimeError, match="unresolved custom op: MatrixInverse"):
        tf.lite.Interpreter(model_content=model).allocate_tensors()


def test_drawings(dense, tmp_path):
    x, y, sess = dense
    converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
    converter.output_format = tf.lite.constants.GRAPHVIZ_DOT
    converter.dump_graphviz_dir = str(tmp_path)
    assert converter.convert().startswith(b"digraph Computegraph {")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["toco_AFTER_TRANSFORMATIONS.dot", "toco_AT_IMPORT.dot"]
    converter.output_format = 7
    with pytest.raises(ValueError, match="output_format"):
        converter.convert()


@pytest.mark.parametrize("alone", [False, True])
def test_ops_of_tensorflow_inside_a_model(alone):
    x = tf.placeholder(tf.float32, [2, 4], name="x")
    y = tf.cumsum(tf.nn.softplus(x), axis=1, reverse=True) + 1.0
    data = np.random.RandomState(0).randn(2, 4).astype(np.float32)
    with tf.Session() as sess:
        expected = sess.run(y, {x: data})
        converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.SELECT_TF_OPS] + (
            [] if alone else [tf.lite.OpsSet.TFLITE_BUILTINS]
        )
        model = converter.convert()
    assert ops_of(model) == ["FlexSoftplus", "FlexCumsum", "FlexAddV2" if alone else "ADD"]
    np.testing.assert_allclose(run(model, [data])[0], expected, rtol=1e-5)


def test_files_run_no_ops_beyond_their_tensors():
    from everflow.formats import tflite
    from everflow.lite.custom_options import decode_strings, encode_strings
    from everflow.protos.node_def_pb2 import NodeDef

    assert decode_strings(encode_strings([b"a" * 300, b""])) == [b"a" * 300, b""]
    new = tflite.SCHEMA.new
    for node in (
        NodeDef(name="r", op="ReadFile"),
        NodeDef(name="p", op="RandomUniformInt"),
        NodeDef(name="n", op="NoSuchOp"),
    ):
        options = np.frombuffer(encode_strings([node.op.encode(), node.SerializeToString()]), np.uint8)
        tensors = [new("Tensor", shape=[], name="x", type=5), new("Tensor", shape=[], name="y", type=5)]
        operator = new("Operator", inputs=[0], outputs=[1], custom_options=options)
        codes = [new("OperatorCode", builtin_code=tflite.CODES["CUSTOM"], custom_code=f"Flex{node.op}")]
        graph = new("SubGraph", tensors=tensors, inputs=[0], outputs=[1], operators=[operator])
        model = tflite.write_model(
            new("Model", version=3, operator_codes=codes, subgraphs=[graph], buffers=[new("Buffer")])
        )
        with pytest.raises(RuntimeError, match=f"Flex{node.op}"):
            tf.lite.Interpreter(model_content=model).allocate_tensors()
