"""Profiles of what runs, eagerly and in sessions, where TensorBoard looks for them."""

import os

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.profiler import live
from everflow.protos.trace_events_pb2 import Trace


def names(profile):
    return [event.name for event in Trace.FromString(profile).trace_events]


def test_eager_operations_are_in_a_profile():
    with eager_mode():
        x = tf.ones([20, 20])
        tf.matmul(x, x)  # known before, so that it goes to its kernel directly
        live.start()
        tf.matmul(x, x)
        tf.square(x)
        profile = live.stop()
        tf.square(x)
    assert names(profile) == ["MatMul", "Square"]
    first, second = Trace.FromString(profile).trace_events
    assert first.duration_ps > 0
    assert second.timestamp_ps >= first.timestamp_ps + first.duration_ps


def test_runs_of_sessions_are_in_a_profile_node_by_node():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.exp(x, name="y")
        live.start()
        metadata = tf.RunMetadata()
        sess.run(y, {x: [0.0, 1.0]}, run_metadata=metadata)
        sess.run(y, {x: [0.0, 1.0]})
        found = names(live.stop())
    assert found.count("SessionRun") == 2
    assert found.count("Exp") == 2
    assert any(node.node_name == "y" for device in metadata.step_stats.dev_stats for node in device.node_stats)


def test_callables_and_training_are_in_a_profile(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        with_feeds, without = sess.make_callable(tf.exp(x), [x]), sess.make_callable(tf.constant(1.0) + 1.0)
        live.start()
        with_feeds([0.0, 1.0])
        without()
        assert names(live.stop()).count("SessionRun") == 2
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
        board = tf.keras.callbacks.TensorBoard(str(tmp_path), profile_batch=2)
        model.fit(np.ones((4, 3)), np.ones((4, 1)), batch_size=2, verbose=0, callbacks=[board])
    (profile,) = tmp_path.glob("plugins/profile/*/local.trace")
    assert names(profile.read_bytes()).count("SessionRun") == 1


def test_one_profile_at_a_time():
    with pytest.raises(live.ProfilerNotRunningError):
        live.stop()
    live.start()
    try:
        with pytest.raises(live.ProfilerAlreadyRunningError):
            live.start()
    finally:
        live.stop()


def test_files_lie_where_tensorboard_looks(tmp_path):
    for _ in range(2):
        with live.Profiler(str(tmp_path)), tf.Graph().as_default(), tf.Session() as sess:
            sess.run(tf.constant(1) + 2)
    (run, *_) = os.listdir(tmp_path / "plugins" / "profile")
    assert "SessionRun" in names((tmp_path / "plugins" / "profile" / run / "local.trace").read_bytes())
    assert len([name for name in os.listdir(tmp_path) if name.endswith(".profile-empty")]) == 1
