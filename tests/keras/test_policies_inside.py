"""What TensorFlow's tests of mixed precision reach for: switches of policies, layers that infer types, variables."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.framework.scopes import get_default_graph
from everflow.keras.engine import autocasting
from everflow.keras.engine.autocast_variable import AutoCastDistributedVariable, AutoCastVariable
from everflow.keras.mixed_precision import policy
from everflow.train import loss_scale

Policy = tf.keras.mixed_precision.experimental.Policy


@pytest.fixture
def v2_types():
    before = autocasting.switch(True)
    yield
    autocasting.switch(before)


class Shift(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.shift = self.add_weight("shift", (), initializer="ones")

    def call(self, inputs):
        return inputs + tf.cast(self.shift, inputs.dtype)


def test_only_the_first_policy_is_the_default_one():
    assert loss_scale.using_default_mixed_precision_policy
    with policy.policy_scope("infer"):
        assert not loss_scale.using_default_mixed_precision_policy
    assert loss_scale.using_default_mixed_precision_policy


def test_no_policy_is_set_beside_the_graph_rewrite(monkeypatch):
    monkeypatch.setattr(loss_scale, "mixed_precision_graph_rewrite_is_enabled", True)
    for each in ("infer", None):
        with pytest.raises(ValueError):
            policy.set_policy(each)


def test_layers_are_of_the_programs_default_type_unless_a_policy_was_set(v2_types):
    assert policy.policy_defaults_to_floatx()
    with policy.policy_scope("float32"):
        assert not policy.policy_defaults_to_floatx()


@pytest.mark.parametrize(
    "given, computes, named, variable",
    [
        ("float16", "float16", "float16_with_float32_vars", "AutoCastVariable"),
        ("float32", "float32", "float32", "ResourceVariable"),
        ("int32", "int32", "int32_with_float32_vars", "AutoCastVariable"),
    ],
)
def test_a_layer_infers_what_it_computes_in(given, computes, named, variable):
    layer = Shift(dtype=Policy("infer_with_float32_vars"))
    assert layer._compute_dtype is None
    layer(tf.ones([1], given))
    assert (layer._compute_dtype, layer._dtype_policy.name) == (computes, named)
    assert (type(layer.shift).__name__, layer.shift.dtype) == (variable, tf.float32)


def test_the_type_of_reads_can_be_asked_and_set():
    graph, variable = get_default_graph(), AutoCastVariable(tf.Variable(1.0, use_resource=True))
    with graph._enable_auto_casting_variables("float16"):
        assert graph._auto_cast_variable_read_dtype == variable.dtype == tf.float16
        assert variable._dense_var_to_tensor().dtype == tf.float16
        with pytest.raises(AssertionError):
            variable._dense_var_to_tensor(as_ref=True)
    assert graph._auto_cast_variable_read_dtype is None


def test_one_for_several_devices_is_a_variable_of_the_strategy():
    with tf.Graph().as_default(), tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        variable = tf.Variable(1.0)
        assert isinstance(AutoCastDistributedVariable(variable), type(variable))
    with pytest.raises(ValueError):
        AutoCastDistributedVariable(tf.Variable(1.0, use_resource=True))


def test_metrics_count_in_the_type_of_the_policy(v2_types):
    with policy.policy_scope("float64"):
        assert tf.keras.metrics.Mean().dtype == "float64"


def test_a_model_that_is_trained_eagerly_scales_its_loss():
    with eager_mode():
        x = tf.keras.Input((1,), batch_size=2, dtype="float16")
        y = Shift(dtype=Policy("float16_with_float32_vars"))(x)
        y = tf.keras.layers.Lambda(lambda t: tf.cast(t, "float32"), dtype="float32")(y)
        model = tf.keras.Model(x, y)
        scaled = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.5), "dynamic")
        model.compile(scaled, "mse")
        ones = np.ones((2, 1), "float16")
        model.train_on_batch(ones, ones)  # gradients of 2 ** 15 each: their sum is infinite in half precision
        assert model.get_weights() == [1.0]
        assert scaled.loss_scale().numpy() == 2.0**14
        model.train_on_batch(ones, ones)
        assert model.get_weights() == [0.0]


def test_scaled_steps_in_replicas():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with tf.Graph().as_default(), strategy.scope():
        weight = tf.Variable(5.0)
        scale = tf.train.experimental.DynamicLossScale(4.0, 1, 2.0)
        optimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(1.0), scale)
        step = strategy.experimental_run_v2(lambda: optimizer.minimize(lambda: weight * 1.0, [weight]))
        value, size = weight.read_value(), scale()
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(strategy.experimental_local_results(step))
            assert sess.run([value, size]) == [3.0, 8.0]  # the sum of both replicas' gradients; a good step


def test_layers_that_normalize_keep_the_type_of_inputs_and_weights():
    layer = tf.keras.layers.LayerNormalization(dtype=tf.keras.mixed_precision.experimental.Policy("mixed_float16"))
    assert layer(tf.ones([2, 3])).dtype == tf.float32 and not isinstance(layer.gamma, AutoCastVariable)


def test_a_cast_variable_of_a_strategy_shows_itself():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        variable = AutoCastDistributedVariable(tf.Variable(1.0, name="v"))
    assert "'v:0'" in repr(variable) and "true_dtype=float32" in repr(variable)
