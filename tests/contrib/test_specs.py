"""tf.contrib.specs: networks from text, and what text says of networks."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import specs
from everflow.contrib.specs import specs_lib, specs_ops, summaries


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setattr(specs_ops.Shared, "shared_number", 1)
    with tf.Graph().as_default() as graph:
        yield graph


def _run(tensor):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(tensor)


def _variables():
    return [v.op.name for v in tf.global_variables()]


def test_a_network_of_a_line():
    net = specs.create_net("width = 3; net = Cr(4, 3) | Mp(2) | Flat | Fs(width)", tf.ones([2, 4, 4, 1]))
    assert net.shape == (2, 3) and net.op.type == "Sigmoid"
    assert _variables() == [
        f"{scope}/{part}" for scope in ("Conv", "fully_connected") for part in ("weights", "biases")
    ]
    assert _run(net).shape == (2, 3)


def test_functions_are_put_together():
    x = tf.constant([1.0, -2.0])
    double, positive = specs_lib.Function(tf.multiply, 2.0), specs_ops.Relu
    both = specs_ops.Conc(0, double | positive, double**3, double**0)
    np.testing.assert_array_equal(_run(both.funcall(x)), [2, 0, 8, -16, 1, -2])
    np.testing.assert_array_equal(_run((double + positive).funcall(x)), [3, -4])
    assert specs_lib.Import("import math; f = math.sqrt").funcall(4.0) == 2.0
    assert specs_lib.External("math", "pow")(3.0).funcall(2.0) == 8.0
    with pytest.raises(ValueError):
        specs_lib.Import("g = 1")


def test_arguments_by_place():
    assert specs_lib.get_positional([1, 2], {"_3": 4, "b": 1}) == ([1, 2, None, 4], {"b": 1})
    assert specs_lib.get_positional([1, 2], {"_0": 4}) == ([1, 2], {})
    assert specs_lib.get_positional([1, 2], {"_0": 4}, kw_overrides=True) == ([4, 2], {})
    joined = specs_lib.Function(tf.concat)(_0=1).funcall([tf.ones([2, 2])] * 2)
    assert joined.shape == (2, 4)


def test_a_shared_part_has_one_set_of_variables():
    net = specs.create_net("part = Shared(Fr(2)); net = part | part | Shared(Fr(2))", tf.ones([1, 2]))
    assert net.op.name == "Shared_2/fully_connected/Relu"
    assert len(_variables()) == 4 and _variables()[0] == "Shared_1/fully_connected/weights"


@pytest.mark.parametrize("spec", ["while x: net = Id", "import os\nnet = Id", "x = 3"])
def test_what_is_no_network(spec):
    with pytest.raises(ValueError):
        specs.create_net(spec, tf.ones([2]))


def test_names_of_a_spec():
    assert sorted(specs.eval_spec("a = k; net = Fr(a)", {"k": 3})) == ["a", "k", "net"]
    assert specs.eval_params("a = log(exp(1.0)); b = Ui(2, 2)") == {"a": 1.0, "b": 2}
    assert specs.eval_spec("f = Fun(lambda x: k * x)", {"k": 3})["f"].funcall(2) == 6
    with specs.LocalImport({"somewhere": 5}):
        assert somewhere == 5  # noqa: F821  it is there in here
    assert "somewhere" not in globals()


def test_structures():
    x = tf.placeholder(tf.float32, [2, 3])
    y = specs.create_net("a = Fr(4); net = a | Conc(1, Sig, Tanh)", x)
    assert summaries.tf_structure(y) == " _ variablev2 dot variablev2 biasadd relu sig <> tanh _ concatv2"
    assert summaries.tf_structure(tf.nn.relu(x), include_shapes=True) == " [2, 3] _ [2, 3] relu"
    assert summaries.tf_spec_structure("net = Fl(1)", input_shape=[2, 3]) == "_ variablev2 dot variablev2 biasadd"


def test_parameters_are_counted():
    lines = []
    net = specs.create_net("net = Fr(4) | Fl(1)", tf.placeholder(tf.float32, [2, 3]))
    summaries.tf_parameter_summary(net, printer=lines.append)
    assert [line.split(maxsplit=2) for line in lines] == [
        ["0", "Placeholder", "[2, 3]"],
        ["16", "fully_connected", "[2, 4]"],
        ["5", "fully_connected_1", "[2, 1]"],
    ]
    assert summaries.tf_num_params(net) == 21
    lines.clear()
    summaries.tf_print(tf.nn.relu(net), printer=lines.append)
    assert lines[:2] == ["Relu Relu [2, 1]", "  fully_connected_1/BiasAdd BiasAdd [2, 1]"]
    assert lines[-1] == "    fully_connected_1/biases VariableV2 [1]"
