"""When plans become machine code: switches, and the background."""

import builtins
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import everflow as tf
from everflow.native import toolchain
from everflow.runtime.plan import compile as planning
from everflow.runtime.plan.native import machine_code, tiers
from everflow.runtime.plan.program import NATIVE

FEED = np.ones([3, 4], np.float32)


def model():
    x = tf.placeholder(tf.float32, [3, 4])
    return x, tf.tanh(x * 2.0) + tf.exp(-x)


def is_native(sess, y, x):
    return NATIVE in sess.explain(y, [x])


@pytest.mark.parametrize(
    "level, environment, mode",
    [
        (0, {}, tiers.WHEN_IT_PAYS),
        (-1, {"EVERFLOW_NATIVE": "always"}, tiers.OFF),
        (1, {}, tiers.ALWAYS),
        (2, {"EVERFLOW_NATIVE": "off"}, tiers.ALWAYS),
        (0, {"EVERFLOW_NATIVE": "off"}, tiers.OFF),
        (0, {"EVERFLOW_NATIVE": "always"}, tiers.ALWAYS),
        (0, {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"}, tiers.ALWAYS),
        (0, {"TF_XLA_FLAGS": "--tf_xla_auto_jit=-1"}, tiers.OFF),
        (0, {"TF_XLA_FLAGS": "--tf_xla_clustering_debug"}, tiers.WHEN_IT_PAYS),
    ],
)
def test_switches(level, environment, mode, monkeypatch):
    for name in ("EVERFLOW_NATIVE", "TF_XLA_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    assert tiers.mode_of(config) == mode


def test_a_switch_that_is_none_is_told(monkeypatch):
    monkeypatch.setenv("EVERFLOW_NATIVE", "sometimes")
    with pytest.raises(ValueError, match="off, always, auto"):
        tiers.mode_of(tf.ConfigProto())


def test_a_plan_is_changed_at_a_run_that_its_sizes_decide(monkeypatch):
    """Whatever the clock says: the numbers of a program are the same every time."""
    monkeypatch.setenv("EVERFLOW_NATIVE", "auto")
    monkeypatch.setattr(tiers, "LONG_ENOUGH", 0.0)
    monkeypatch.setattr(tiers, "LONGER", 0.0)
    x, y = model()
    with tf.Session() as sess:
        expected = sess.run(y, {x: FEED})
        plan = sess._executor.prepare([y], [x]).plan
        for run in range(2, 2 * tiers.OFTEN_ENOUGH):
            np.testing.assert_allclose(sess.run(y, {x: FEED}), expected, rtol=1e-6)
            is_changed = any(n is not None and n.type == NATIVE for n in plan.emitted._line_nodes)
            assert is_changed == (run >= tiers.OFTEN_ENOUGH)


def test_larger_plans_change_after_fewer_runs():
    counts = []
    for size in (10, 10_000, 1_000_000):
        x = tf.placeholder(tf.float32, [size])
        with tf.Session() as sess:
            program = sess._executor.compile([tf.tanh(x) * 2.0], [x]).program
            counts.append(tiers.runs_before(program.nodes()))
    assert counts[0] > counts[1] > counts[2] >= tiers.OFTEN_ENOUGH


def test_a_compiler_that_fails_leaves_the_plan_as_it_is(monkeypatch, caplog):
    changed = []

    def make():
        raise RuntimeError("no code today")

    tier = tiers.Tier(make, lambda: changed.append(1))
    tier.begin()
    tier.change()
    assert changed == [1]


def test_without_the_compiler_plans_stay_as_they_are(monkeypatch):
    whole = builtins.__import__

    def importing(name, *rest):
        if name.startswith("llvmlite"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    x, y = model()
    with tf.Session(config=config) as sess:
        assert sess.run(y, {x: FEED}).shape == (3, 4)
        assert not is_native(sess, y, x)


def test_code_that_cannot_be_made_leaves_the_plan_to_kernels(monkeypatch, caplog):
    def refuse(text):
        raise toolchain.CompilerError("no code today")

    monkeypatch.setattr(toolchain, "object_code", refuse)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    x, y = model()
    with tf.Session(config=config) as sess:
        assert sess.run(y, {x: FEED}).shape == (3, 4)
        assert not is_native(sess, y, x)


def test_traces_show_nodes_and_not_regions():
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    x, y = model()
    metadata = tf.RunMetadata()
    with tf.Session(config=config) as sess:
        sess.run(y, {x: FEED}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    names = {node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats}
    assert "Tanh" in names


def _function(steps):
    v = tf.Variable(tf.ones([4]), use_resource=True)

    @tf.function
    def train(x):
        loss = tf.reduce_sum(tf.tanh(x * v) * tf.exp(-x))
        return v.assign_sub(0.1 * tf.gradients(loss, v)[0]), loss

    results = train(tf.constant(FEED))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(results)


def _mapped_dataset(steps):
    data = tf.data.Dataset.from_tensors(FEED).repeat(steps).map(lambda x: tf.tanh(x * 2.0) + tf.exp(-x))
    element = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
    with tf.Session() as sess:
        for _ in range(steps):
            sess.run(element)


def _keras_fit(steps):
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh", input_shape=(4,)), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(np.ones([8, 4], np.float32), np.ones([8, 1], np.float32), batch_size=8, epochs=steps, verbose=0)


def _estimator(steps):
    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.tanh(features * 2.0), 1) - labels))
        train = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn():
        return tf.data.Dataset.from_tensors((np.ones([8, 4], np.float32), np.ones([8, 1], np.float32))).repeat()

    with tempfile.TemporaryDirectory() as folder:
        tf.estimator.Estimator(model_fn, folder).train(input_fn, steps=steps)


@pytest.mark.parametrize("train", [_function, _mapped_dataset, _keras_fit, _estimator])
def test_whoever_runs_often_gets_machine_code(train, monkeypatch):
    """Without asking for it: functions, input pipelines, Keras and Estimators as well as sessions."""
    monkeypatch.setenv("EVERFLOW_NATIVE", "auto")
    monkeypatch.setattr(tiers, "LONG_ENOUGH", 0.0)
    monkeypatch.setattr(tiers, "LONGER", 0.0)
    counts, whole = [], machine_code.with_machine_code

    def counted(*arguments):
        counts.append(whole(*arguments))
        return counts[-1]

    monkeypatch.setattr(machine_code, "with_machine_code", counted)
    train(tiers.OFTEN_ENOUGH // 2 - 2)  # before the compiler begins
    assert not any(counts)
    train(2 * tiers.OFTEN_ENOUGH)
    assert any(counts)


def test_a_first_run_loads_no_compiler():
    """So it takes no longer than without one."""
    program = """
import sys
import everflow as tf
x = tf.placeholder(tf.float32, [3])
with tf.Session() as sess:
    sess.run(tf.tanh(x * 2.0) + 1.0, {x: [1.0, 2.0, 3.0]})
print([name for name in sys.modules if name.startswith("llvmlite")])
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("EVERFLOW_NATIVE", "TF_XLA_FLAGS")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "[]\n"


def test_large_plans_are_begun_to_be_compiled_at_once(monkeypatch):
    monkeypatch.setenv("EVERFLOW_NATIVE", "auto")
    begun = []
    monkeypatch.setattr(tiers.Tier, "begin", lambda self: begun.append(self))
    for many, is_begun in ((1_000_000, False), (1, True)):
        monkeypatch.setattr(planning, "MANY_NODES", many)
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = model()
            begun.clear()
            sess.run(y, {x: FEED})
            assert bool(begun) == is_begun
