"""Switches between TensorFlow 1's behaviour and 2's."""

import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.eager import version_mark
from everflow.eager.mode import eager_mode
from everflow.ops.control_flow import switches


def run(program):
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"import everflow as tf\n{program}"], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")[:-1]


def test_switching_two_off_leaves_one():
    tf.enable_resource_variables()
    tf.enable_control_flow_v2()
    tf.disable_v2_behavior()
    assert not tf.resource_variables_enabled() and not switches.control_flow_v2_enabled()
    assert not version_mark.enabled()


def test_what_is_so_anyway_stays_so():
    assert run("""
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [2])
    for name in ["disable_eager_execution", "disable_v2_tensorshape", "disable_tensor_equality"]:
        getattr(tf.compat.v1, name)()
    print(tf.get_default_graph() is graph, tf.executing_eagerly(), x.shape[0] + 1, x == x, x == tf.identity(x))
""") == ["True False 3 True False"]


def test_switching_two_off_keeps_what_was_drawn():
    assert run("""
x = tf.constant(1, name="x")
tf.disable_v2_behavior()
print(tf.get_default_graph() is x.graph)
""") == ["True"]


def test_all_at_once():
    assert run("""
from everflow.eager import version_mark
tf.enable_v2_behavior()
print(tf.executing_eagerly(), tf.resource_variables_enabled(), tf.control_flow_v2_enabled(), version_mark.enabled())
x = tf.constant([1, 2])
print((x == [1, 3]).numpy(), tf.shape(x).shape[0], tf.TensorShape([None, 2]))
tf.disable_v2_behavior()
print(tf.executing_eagerly(), tf.TensorShape([None, 2]), isinstance(x.shape[0], tf.Dimension), x == [1, 3])
""") == ["True True True True", "[ True False] 1 (None, 2)", "False (?, 2) True False"]


def test_it_comes_too_late_once_something_was_drawn():
    assert run("""
x = tf.constant(1)
try:
    tf.enable_v2_behavior()
except ValueError as e:
    print("too late" in str(e))
print(tf.executing_eagerly(), x == 1)
""") == ["True", "False False"]


def test_keras_trains_as_two():
    losses = run("""
import numpy as np
tf.enable_v2_behavior()
tf.set_random_seed(1)
for eagerly in (False, True):
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, "tanh", input_shape=(2,), kernel_regularizer="l2"),
                                 tf.keras.layers.Dropout(.5), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", run_eagerly=eagerly)
    x = np.random.RandomState(0).rand(20, 2).astype("f")
    history = model.fit(x, x[:, :1], batch_size=10, epochs=2, verbose=0)
    print(len(history.history["loss"]), model.predict(x).shape)
""")
    assert losses == ["2 (20, 1)", "2 (20, 1)"]


def test_loops_and_branches_have_gradients_where_tensors_compare_by_value():
    shown = run("""
tf.enable_v2_behavior()
@tf.function
def slopes(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
        z = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x) * y, lambda: x)
    return tape.gradient(z, x)
print(slopes(tf.constant([1.0, 2.0])).numpy().round(2))
""")
    assert shown == ["[ 13.59 354.67]"]


@pytest.fixture
def plain_sizes():
    tf.enable_v2_tensorshape()
    yield
    tf.disable_v2_tensorshape()


def test_plain_sizes(plain_sizes):
    shape = tf.TensorShape([None, 3])
    assert list(shape) == [None, 3] and shape[0] is None and shape[1] == 3
    assert repr(shape) == "TensorShape([None, 3])" and str(shape) == "(None, 3)" and str(shape[1:]) == "(3,)"
    assert tf.TensorShape(None)[1] is None and [d.value for d in shape.dims] == [None, 3]


@pytest.fixture
def equality():
    tf.enable_tensor_equality()
    yield
    tf.disable_tensor_equality()


def test_equality_by_value(equality):
    with eager_mode():
        x, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 3.0])
        assert np.array_equal(x == [1, 3], [True, False]) and np.array_equal(x != v, [False, True])
        assert np.array_equal(v == v, [True, True]) and bool(tf.constant(1) == 1)
        with pytest.raises(ValueError):
            x == None  # noqa: B015, E711
        with pytest.raises(TypeError):
            x == "a"  # noqa: B015
        assert x.experimental_ref() in {x.experimental_ref()} and v.experimental_ref().deref() is v

        @tf.function
        def same(y):
            return y == [1.0, 2.0]

        assert np.array_equal(same(x), [True, True])


def test_equality_in_a_graph_of_its_own_stays_identity(equality):
    with eager_mode(), tf.Graph().as_default():
        x = tf.constant(1.0)
        assert (x == x) is True and (x != tf.constant(1.0)) is True
