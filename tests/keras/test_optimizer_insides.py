"""Optimizers that programs derive from Keras's, and their state in checkpoints."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


class Halving(tf.keras.optimizers.Optimizer):
    def __init__(self, rate=0.2):
        super().__init__("Halving")
        self._set_hyper("learning_rate", rate)
        self._set_hyper("decay", 0.0)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        prepared = apply_state[var_device, var_dtype]
        prepared["half"] = prepared["lr_t"] * 0.5

    def _half(self, var, apply_state):
        kind = var.device, var.dtype.base_dtype
        return ((apply_state or {}).get(kind) or self._fallback_apply_state(*kind))["half"]

    def _resource_apply_dense(self, grad, var, apply_state=None):
        assert apply_state
        return var.assign_sub(grad * self._half(var, apply_state))

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        return self._resource_scatter_add(var, indices, -grad * self._half(var, None))


@pytest.mark.parametrize("eagerly", [False, True])
def test_what_was_prepared_is_handed_on(eagerly):
    def steps():
        table = tf.keras.layers.Embedding(4, 1, input_length=1, embeddings_initializer="ones")
        model = tf.keras.Sequential(
            [table, tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, kernel_initializer="ones")]
        )
        model.compile(Halving(), "mse")
        model.train_on_batch(np.array([[1]]), np.zeros([1, 1]))
        return [w.ravel().tolist() for w in model.get_weights()]

    if eagerly:
        with eager_mode():
            found = steps()
    else:
        found = steps()
    np.testing.assert_allclose(found[0], [1, 0.8, 1, 1], rtol=1e-6)
    np.testing.assert_allclose(found[1:], [[0.8], [-0.2]], rtol=1e-6)


def test_slots_are_restored_though_they_come_later(tmp_path):
    x, y = np.ones((4, 3)), np.ones((4, 2))

    def a_model():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.Adam(0.1), "mse")
        return model

    first = a_model()
    first.train_on_batch(x, y)
    first.save_weights(str(tmp_path / "c"))
    second = a_model()
    second.load_weights(str(tmp_path / "c"))
    for model in (first, second):
        model.train_on_batch(x, y)
    np.testing.assert_allclose(second.get_weights()[0], first.get_weights()[0], rtol=1e-6)
    assert tf.keras.backend.get_value(second.optimizer.iterations) == 2


def test_initializers_by_name_have_no_type_in_programs_for_version_2():
    from everflow.eager import version_mark

    version_mark.enable()
    try:
        made = tf.keras.initializers.get({"class_name": "GlorotUniform", "config": {"seed": 3, "dtype": "float32"}})
        assert made.get_config() == {"seed": 3}
        assert tf.keras.initializers.get("he_normal").get_config()["scale"] == 2.0
    finally:
        version_mark._force_enable = None
    assert "dtype" in tf.keras.initializers.get("glorot_uniform").get_config()


def test_a_layer_as_an_activation_is_written():
    layer = tf.keras.layers.Dense(2, activation=tf.keras.layers.LeakyReLU(alpha=0.25))
    assert layer.get_config()["activation"]["class_name"] == "LeakyReLU"


def test_tensors_are_not_updated():
    with pytest.raises(NotImplementedError, match="Only variables"):
        tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.ones([]), tf.constant(1.0))])


def test_gradients_of_a_function_are_a_tapes():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [2], use_resource=True)
        tf.keras.optimizers.SGD(0.1).minimize(lambda: tf.reduce_sum(v * v), [v])
        names = [op.name for op in graph.get_operations() if op.name.startswith("SGD/gradients/")]
        assert names[0] == "SGD/gradients/ones" and names[-1] == "SGD/gradients/AddN"
