"""tf.lite.Interpreter: its use, its errors, and files that are not what they say."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture
def model():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.nn.relu(tf.matmul(x, tf.constant(np.eye(4, 3), tf.float32)) + [0.0, 1.0, -5.0], name="y")
    with tf.Session() as sess:
        return tf.lite.TFLiteConverter.from_session(sess, [x], [y]).convert()


def ready(model):
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter, interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]


def test_details(model):
    details = tf.lite.Interpreter(model_content=model).get_input_details()
    assert [sorted(d) for d in details] == [["dtype", "index", "name", "quantization", "shape"]]
    assert details[0]["name"] == "x" and details[0]["dtype"] is np.float32 and details[0]["quantization"] == (0.0, 0)
    assert details[0]["shape"].dtype == np.int32 and details[0]["shape"].tolist() == [1, 4]


def test_set_invoke_get(model):
    interpreter, x, y = ready(model)
    interpreter.set_tensor(x, np.array([[1, 2, 3, 4]], np.float32))
    interpreter.invoke()
    got = interpreter.get_tensor(y)
    assert got.tolist() == [[1, 3, 0]]
    got[:] = 9
    assert interpreter.get_tensor(y).tolist() == [[1, 3, 0]]


def test_wrong_values(model):
    interpreter, x, _ = ready(model)
    for value in (
        np.zeros((2, 4), np.float32),
        np.zeros(4, np.float32),
        np.zeros((1, 4)),
        np.zeros((1, 4), np.int32),
        [[1.0, 2, 3, 4]],
    ):
        with pytest.raises(ValueError, match="Cannot set tensor"):
            interpreter.set_tensor(x, value)
    for wrong in (
        lambda: interpreter.set_tensor(99, np.zeros((1, 4), np.float32)),
        lambda: interpreter.get_tensor(-1),
        lambda: interpreter.tensor(99)(),
    ):
        with pytest.raises(ValueError, match="Invalid tensor index"):
            wrong()


def test_before_allocation(model):
    interpreter = tf.lite.Interpreter(model_content=model)
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    with pytest.raises(ValueError):
        interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_resize(model):
    interpreter, x, y = ready(model)
    interpreter.resize_tensor_input(x, [3, 4])
    with pytest.raises(RuntimeError):
        interpreter.invoke()
    interpreter.allocate_tensors()
    assert interpreter.get_output_details()[0]["shape"].tolist() == [3, 3]
    interpreter.set_tensor(x, np.ones((3, 4), np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [[1, 2, 0]] * 3
    with pytest.raises(RuntimeError):
        interpreter.resize_tensor_input(99, [1])
    constant = next(d["index"] for d in interpreter.get_tensor_details() if d["name"] == "MatMul_bias")
    with pytest.raises(RuntimeError, match="fixed-size"):
        interpreter.resize_tensor_input(constant, [4])


def test_memory_in_place(model):
    interpreter, x, y = ready(model)
    inside, outside = interpreter.tensor(x), interpreter.tensor(y)
    inside()[:] = [[5, 0, 0, 0]]
    interpreter.invoke()
    assert outside().tolist() == [[5, 1, 0]]
    held = inside()
    for call in (interpreter.invoke, interpreter.allocate_tensors, lambda: interpreter.resize_tensor_input(x, [2, 4])):
        with pytest.raises(RuntimeError, match="reference to internal data"):
            call()
    part = held[0]
    del held
    with pytest.raises(RuntimeError, match="reference to internal data"):
        interpreter.invoke()
    del part
    interpreter.invoke()


def test_construction(model, tmp_path):
    (tmp_path / "m.tflite").write_bytes(model)
    assert tf.lite.Interpreter(str(tmp_path / "m.tflite")).get_output_details()[0]["name"] == "y"
    for arguments in (
        {},
        {"model_path": "a", "model_content": model},
        {"model_path": str(tmp_path / "none")},
        {"model_content": b"nothing"},
    ):
        with pytest.raises(ValueError):
            tf.lite.Interpreter(**arguments)


def test_damaged_files(model):
    """Whatever happens to a file's bytes, reading and running it ends in a result or in one of two exceptions."""
    rng = np.random.RandomState(0)
    for _ in range(100):
        data = bytearray(model)
        for _ in range(rng.randint(1, 4)):
            data[rng.randint(8, len(data))] = rng.randint(256)
        data = data[: rng.randint(8, len(data))] if rng.rand() < 0.3 else data
        try:
            interpreter = tf.lite.Interpreter(model_content=bytes(data))
            interpreter.allocate_tensors()
            interpreter.invoke()
        except (ValueError, RuntimeError):
            pass


def test_states_stay_until_they_are_reset():
    from everflow.formats import tflite

    new = tflite.SCHEMA.new
    arrays = {
        "x": np.zeros((1, 2), np.float32),
        "w": np.eye(2, dtype=np.float32),
        "r": np.eye(2, dtype=np.float32),
        "b": np.zeros(2, np.float32),
    }
    buffers = [new("Buffer")] + [
        new("Buffer", data=None if n == "x" else v.view(np.uint8).ravel()) for n, v in arrays.items()
    ]
    tensors = [new("Tensor", shape=v.shape, name=n, buffer=i + 1) for i, (n, v) in enumerate(arrays.items())]
    tensors += [new("Tensor", shape=(1, 2), name="state", is_variable=True), new("Tensor", shape=(1, 2), name="y")]
    operator = new(
        "Operator", inputs=[0, 1, 2, 3, 4], outputs=[5], builtin_options=new("RNNOptions", fused_activation_function=1)
    )
    graph = new("SubGraph", tensors=tensors, inputs=[0], outputs=[5], operators=[operator])
    codes = [new("OperatorCode", builtin_code=tflite.CODES["RNN"])]
    model = tflite.write_model(new("Model", version=3, operator_codes=codes, subgraphs=[graph], buffers=buffers))
    interpreter, x, y = ready(model)
    interpreter.set_tensor(x, np.ones((1, 2), np.float32))
    seen = []
    for _ in range(2):
        for _ in range(3):
            interpreter.invoke()
            seen.append(interpreter.get_tensor(y)[0, 0])
        interpreter.reset_all_variables()
    assert seen == [1, 2, 3, 1, 2, 3]
