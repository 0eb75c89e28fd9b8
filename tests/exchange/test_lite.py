"""TensorFlow Lite models that go from here to TensorFlow 1.15.5 and back: both interpreters give the same from both
converters' files.
"""

import pathlib
import pickle

import numpy as np
import pytest

import everflow as tf
from tests.lite.models import MODELS, feeds
from tests.lite.quantized_models import QUANTIZED, bytes_for

pytestmark = pytest.mark.oracle
FOLDER = pathlib.Path(__file__).parent.parent / "lite"

# Custom ops, ops that came later, and quantized ops that TensorFlow's own converter or interpreter doesn't take.
OURS_ALONE = {"scatter_nd", "relu", "log softmax", "maximum", "space to depth"}

RUN = f"""
import os, pickle, sys
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
sys.path.insert(0, {str(FOLDER)!r})
import numpy as np
import tensorflow as tf

def run(model, values):
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), values):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]
"""


def run(model, values):
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]


def check(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
        else:
            assert (mine == other).all()


def converted(build, tf, quantized):
    """(model, inputs' values) of a model, under either of the two tf."""
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs, outputs = build(tf)
        sess.run(tf.global_variables_initializer())
        converter = tf.lite.TFLiteConverter.from_session(sess, inputs, outputs)
        if quantized:
            converter.inference_type = tf.uint8
            converter.quantized_input_stats = {"x": (128.0, 127.0)}
        return converter.convert(), [bytes_for(inputs[0].shape.as_list())] if quantized else feeds(inputs)


def test_our_models_run_in_tensorflow(oracle, tmp_path):
    made = {}
    for models, quantized in ((MODELS, False), (QUANTIZED, True)):
        for name in models.keys() - OURS_ALONE:
            made[name, quantized] = converted(models[name], tf, quantized)
    # Arrays as their parts: pickles of arrays don't go from a newer numpy to an older one.
    plain = {
        key: (model, [(v.tobytes(), v.dtype.str, v.shape) for v in values]) for key, (model, values) in made.items()
    }
    (tmp_path / "made.pkl").write_bytes(pickle.dumps(plain, protocol=2))
    oracle(
        RUN
        + """
made = pickle.load(open("made.pkl", "rb"))
got = {}
for key, (model, values) in made.items():
    got[key] = run(model, [np.frombuffer(data, kind).reshape(shape) for data, kind, shape in values])
pickle.dump(got, open("got.pkl", "wb"))
"""
    )
    theirs = pickle.loads((tmp_path / "got.pkl").read_bytes())
    for key, (model, values) in made.items():
        check(run(model, values), theirs[key])


@pytest.mark.parametrize("quantized", [False, True])
def test_tensorflows_models_run_here(oracle, tmp_path, quantized):
    # Each conversion there starts a process of its own, so a few stand for all.
    names = (
        ["conv relu", "add", "softmax", "mean", "resize", "network"]
        if quantized
        else ["conv and batch norm", "dense", "strided slice", "top k"]
    )
    module = "quantized_models" if quantized else "models"
    table, values = ("QUANTIZED", "[m.bytes_for(i[0].shape.as_list())]") if quantized else ("MODELS", "m.feeds(i)")
    oracle(
        RUN
        + f"""
import {module} as m
made = {{}}
for name in {names!r}:
    with tf.Graph().as_default(), tf.Session() as sess:
        i, o = m.{table}[name](tf)
        sess.run(tf.global_variables_initializer())
        converter = tf.lite.TFLiteConverter.from_session(sess, i, o)
        if {quantized}:
            converter.inference_type = tf.uint8
            converter.quantized_input_stats = {{"x": (128.0, 127.0)}}
        model, values = converter.convert(), {values}
        made[name] = model, values, run(model, values)
pickle.dump(made, open("made.pkl", "wb"), protocol=2)
"""
    )
    for model, values, theirs in pickle.loads((tmp_path / "made.pkl").read_bytes()).values():
        check(run(model, values), theirs)
