"""The functions of a layer that a SavedModel holds: what one is called on, all are traced for."""

import numpy as np

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.legacy.inner.keras_engine import layer_traces as traces


class Plain(tf.keras.layers.Layer):
    def call(self, inputs):
        return 2.0 * inputs

    def thrice(self, inputs):
        return 3.0 * inputs


class Phased(tf.keras.layers.Layer):
    def call(self, inputs, training=True):
        return 2.0 * inputs if training else inputs


class Around(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Phased()

    def call(self, inputs):
        return self.inner(inputs)


def _traced_shapes(function):
    concretes = function._list_all_concrete_functions_for_serialization()
    return {tuple(trace.structured_input_signature[0][0].shape.as_list()) for trace in concretes}


def test_all_functions_are_traced_together():
    with eager_mode():
        layer = Plain()
        collection = traces.LayerCallCollection(layer)
        twice, thrice = collection.add_function(layer.call, "twice"), collection.add_function(layer.thrice, "thrice")
        twice(np.ones((2, 3), np.float32))
        assert thrice(np.ones((4, 5), np.float32)).numpy().max() == 3
        assert _traced_shapes(twice) == _traced_shapes(thrice) == {(2, 3), (4, 5)}


def test_each_phase_is_traced():
    with eager_mode():
        layer = Phased()
        function = traces.LayerCallCollection(layer).add_function(layer.call, "call")
        assert function(tf.ones((1, 2))).numpy().max() == 2
        assert function(tf.ones((1, 2)), training=False).numpy().max() == 1
        assert len(function._list_all_concrete_functions_for_serialization()) == 2


def test_what_is_inside_is_told_the_phase():
    with eager_mode():
        layer = Around()
        layer(tf.ones((1, 2)))
        function = traces.LayerCallCollection(layer).add_function(layer.call, "call")
        assert [function(tf.ones((1, 2)), training=phase).numpy().max() for phase in (True, False)] == [2, 1]


def test_models_are_traced_for_their_inputs():
    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        function = traces.LayerCallCollection(model).add_function(model.call, "call")
        assert _traced_shapes(function) == {(None, 3)}
        convolution = tf.keras.layers.Conv2D(2, 2)
        convolution(tf.ones((1, 4, 4, 1)))
        (spec,) = traces.LayerCallCollection(convolution).fn_input_signature
        assert spec.shape.as_list() == [None, None, None, 1]


def test_where_training_stands():
    assert traces.get_training_arg_index(Phased().call) == 1 and traces.get_training_arg_index(Plain().call) == -1
    assert traces.set_training_arg(True, 1, [1, 2], {}) == ([1, True], {})
    assert traces.set_training_arg(True, 1, [1], {}) == ([1], {"training": True})
    assert traces.get_training_arg(1, [1], {"training": 5}) == 5
    args = [1, 2, 3]
    traces.remove_training_arg(1, args, {})
    assert args == [1, 3]
    assert traces.layer_uses_training_bool(Around()) and not traces.layer_uses_training_bool(Plain())
