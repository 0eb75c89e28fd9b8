"""What the config of a model says of calls: tensors among arguments, inputs in dicts and lists of lists."""

import json

import numpy as np
import pytest

import everflow as tf

layers = tf.keras.layers


class Sum(layers.Layer):
    def call(self, inputs, other=None, ignored=None):
        total = tf.add_n(tf.nest.flatten(inputs))
        return total if other is None else total + tf.add_n(tf.nest.flatten(other))


CALLS = {
    "an argument": (lambda s, a, b: s(a, other=b), [[["a", 0, 0, {"other": ["b", 0, 0]}]]], 4.0),
    "a list of them": (lambda s, a, b: s(a, other=[b, b]), [[["a", 0, 0, {"other": [["b", 0, 0]] * 2}]]], 7.0),
    "a value": (lambda s, a, b: s(a, other=np.ones([1, 2], "float32")), [[["a", 0, 0, {"other": [[1.0, 1.0]]}]]], 3.0),
    "no plain data": (lambda s, a, b: s(a, ignored=object()), [[["a", 0, 0, {}]]], 1.0),
    "a dict": (lambda s, a, b: s({"y": a, "x": b}), [{"y": ["a", 0, 0, {}], "x": ["b", 0, 0, {}]}], 4.0),
    "lists": (lambda s, a, b: s([a, [b]]), [[["a", 0, 0, {}], [["b", 0, 0, {}]]]], 4.0),
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_is_written_down_and_made_again(kind):
    call, written, expected = CALLS[kind]
    a, b = tf.keras.Input([2], name="a"), tf.keras.Input([2], name="b")
    model = tf.keras.Model([a, b], call(Sum(name="sum"), a, b))
    config = json.loads(json.dumps(model.get_config()))
    assert [layer["inbound_nodes"] for layer in config["layers"] if layer["name"] == "sum"] == [written]
    again = tf.keras.Model.from_config(config, {"Sum": Sum})
    np.testing.assert_allclose(again.predict([np.ones([1, 2]), 3 * np.ones([1, 2])]), [[expected] * 2])


def test_a_clone_gets_its_own_tensors_as_arguments():
    a, b = tf.keras.Input([2]), tf.keras.Input([2])
    model = tf.keras.Model([a, b], Sum()(a, other=b))
    copy = tf.keras.models.clone_model(model)
    np.testing.assert_allclose(copy.predict([np.ones([1, 2]), 3 * np.ones([1, 2])]), [[4.0, 4.0]])
    with pytest.raises(AssertionError, match="2 inputs"):
        tf.keras.models.clone_model(model, input_tensors=[a])
