"""Models drawn anew: copies with their compilation, shared layers, models that are reset in place."""

import numpy as np
import pytest

import everflow as tf
from everflow.keras import models
from everflow.keras.saving import clones

layers, K = tf.keras.layers, tf.keras.backend


def _compiled(optimizer="sgd"):
    model = tf.keras.Sequential([layers.Dense(3, input_shape=(2,)), layers.Dropout(0.5), layers.Dense(1)])
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def test_a_copy_is_compiled_as_the_model_was():
    model = _compiled()
    copy = clones.clone_and_build_model(model)
    assert copy is not model and copy.loss == "mse" and copy.metrics_names == model.metrics_names
    assert copy.optimizer.get_config() == model.optimizer.get_config()
    assert copy.optimizer is not model.optimizer
    assert not clones.clone_and_build_model(model, compile_clone=False)._is_compiled


@pytest.mark.parametrize("optimizer", ["adam", tf.train.AdamOptimizer()])
def test_copies_count_their_steps_where_they_are_told(optimizer):
    step = tf.train.get_or_create_global_step()
    copy = clones.clone_and_build_model(_compiled(optimizer), optimizer_iterations=step)
    assert copy.optimizer.iterations is step


def test_only_compiled_models_have_compiled_copies():
    with pytest.raises(ValueError, match="isn't compiled"):
        clones.clone_and_build_model(tf.keras.Sequential([layers.Dense(1, input_shape=(2,))]))


def test_shared_layers_are_the_same():
    model = _compiled()
    copy = models.clone_model(model, input_tensors=tf.keras.Input((2,)), clone_function=models.share_weights)
    assert [a is b for a, b in zip(copy.layers, model.layers)] == [True] * 3


def test_a_variable_can_be_the_input_of_a_copy():
    model = _compiled()
    copy = models.clone_model(model, input_tensors=[K.variable(np.ones([4, 2]))])
    copy.compile("sgd", "mse")
    assert copy.train_on_batch(None, np.ones([4, 1])) >= 0


class _Own(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = layers.Dense(1)

    def call(self, inputs):
        return self.inner(inputs)


def test_models_with_their_own_call_are_reset_in_place():
    model = _Own()
    model.compile("sgd", "mse")
    model.fit(np.ones([2, 2]), np.ones([2, 1]), verbose=0)
    before, weights = model.inner, model.get_weights()
    with pytest.raises(ValueError, match="in_place_reset"):
        clones.clone_and_build_model(model)
    assert clones.clone_and_build_model(model, in_place_reset=True) is model
    assert model.inner is not before and not model.built
    clones.restore_in_place(model)
    assert model.inner is before
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])


def test_a_list_of_layers_cant_be_reset():
    model = _Own()
    model.several = [layers.Dense(2)]
    with pytest.raises(ValueError, match="list of layers"):
        clones.reset_in_place(model)


def test_checkpoints_hold_the_steps_of_a_wrapped_optimizer(tmp_path):
    model = _compiled(tf.train.AdamOptimizer())
    model.fit(np.ones([2, 2]), np.ones([2, 1]), verbose=0)
    model.save_weights(str(tmp_path / "weights"))
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "weights"))]
    assert "optimizer/global_step/.ATTRIBUTES/VARIABLE_VALUE" in names


def test_a_sequential_model_inside_another_is_made_again_where_it_is_called():
    """What it was called with doesn't tell for which shape to make it: its weights are named in its own scope."""
    with tf.Graph().as_default(), tf.Session():
        inner = tf.keras.Sequential([tf.keras.layers.Dense(2, name="a")], name="inner")
        inputs = tf.keras.layers.Input([3])
        model = tf.keras.Model(inputs, inner(inputs))
        assert "build_input_shape" not in inner.get_config()
        again = tf.keras.Model.from_config(model.get_config())
        assert [w.name for w in again.weights] == ["inner_1/a/kernel:0", "inner_1/a/bias:0"]


def test_a_model_drawn_for_data_goes_on_with_another_layer():
    with tf.Graph().as_default(), tf.Session():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
        assert model.predict([[1.0, 2.0, 3.0]]).shape == (1, 2)
        model.add(tf.keras.layers.Dense(4))
        assert len(model.weights) == 4
        model.compile("sgd", "mse")
        assert model.predict([[1.0, 2.0, 3.0]]).shape == (1, 4)


def test_a_model_built_for_a_shape_waits_after_another_layer():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build((None, 3))
    model.add(tf.keras.layers.Dense(4))
    assert not model.built
