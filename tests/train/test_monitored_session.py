"""Monitored sessions and their hooks, coordinators, the supervisor."""

from __future__ import annotations

import contextlib
import os

import numpy as np
import pytest

import everflow as tf
from everflow.platform import logging


def counting():
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def test_training_stops_saves_and_resumes(tmp_path):
    folder = str(tmp_path)
    for last, expected in ((4, 4), (7, 3)):
        with tf.Graph().as_default():
            _, bump = counting()
            runs = 0
            hooks = [tf.train.StopAtStepHook(last_step=last)]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2) as sess:
                while not sess.should_stop():
                    sess.run(bump)
                    runs += 1
            assert runs == expected
    assert tf.train.latest_checkpoint(folder) == os.path.join(folder, "model.ckpt-7")


def test_hooks_see_and_feed():
    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"double": y}, feed_dict={x: 21})

        def after_run(self, run_context, run_values):
            self.seen = int(run_values.results["double"])
            run_context.request_stop()

    with tf.Graph().as_default():
        x = tf.placeholder_with_default(1, [])
        y = x * 2
        hook = Hook()
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            assert sess.run(x) == 21
            assert sess.should_stop()
        assert hook.seen == 42


def test_a_lost_worker_makes_the_session_anew():
    class Lose(tf.train.SessionRunHook):
        created = runs = 0

        def after_create_session(self, session, coord):
            self.created += 1

        def after_run(self, run_context, run_values):
            self.runs += 1
            if self.runs == 2:
                raise tf.errors.AbortedError(None, None, "lost")

    with tf.Graph().as_default():
        _, bump = counting()
        hook = Lose()
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            assert [int(sess.run(bump)) for _ in range(3)] == [1, 1, 2]
        assert hook.created == 2


def test_queue_runners_are_started_and_their_end_is_clean():
    with tf.Graph().as_default():
        n = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
        seen = []
        with tf.train.MonitoredSession() as sess:
            while not sess.should_stop():
                seen.append(int(sess.run(n)))
        assert seen == [0, 1, 2]


def test_nan_stops_or_raises():
    with tf.Graph().as_default():
        loss = tf.constant(float("nan"))
        with pytest.raises(tf.train.NanLossDuringTrainingError):
            with tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(loss)]) as sess:
                sess.run(loss)
    with tf.Graph().as_default():
        loss = tf.constant(float("nan"))
        with tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(loss, fail_on_nan_loss=False)]) as sess:
            sess.run(loss)
            assert sess.should_stop()


def test_final_ops_feeds_and_profiles(tmp_path):
    with tf.Graph().as_default():
        step, bump = counting()
        x = tf.placeholder(tf.float32, [])
        final = tf.train.FinalOpsHook(step)
        hooks = [
            final,
            tf.train.FeedFnHook(lambda: {x: 2.0}),
            tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path)),
        ]
        with tf.train.SingularMonitoredSession(hooks=hooks) as sess:
            for _ in range(4):
                assert sess.run([x, bump])[0] == 2.0
        assert final.final_ops_values == 4
    assert any(name.startswith("timeline-") for name in os.listdir(tmp_path))


def test_step_functions():
    with tf.Graph().as_default():
        step, bump = counting()

        def twice(step_context):
            step_context.session.run(bump)
            value = step_context.run_with_hooks(bump)
            if value >= 4:
                step_context.request_stop()

        hook = tf.train.FinalOpsHook(step)
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            while not sess.should_stop():
                sess.run_step_fn(twice)
        assert hook.final_ops_values == 4
        with tf.train.MonitoredSession() as sess:
            with pytest.raises(ValueError):
                sess.run_step_fn(lambda other: None)


def test_supervisor_saves_and_hands_on_errors(tmp_path):
    with tf.Graph().as_default():
        _, bump = counting()
        sv = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0.05, summary_op=None)
        with sv.managed_session() as sess:
            while not tf.train.latest_checkpoint(str(tmp_path)):
                sess.run(bump)
        assert sv.should_stop()
        with pytest.raises(KeyError):
            with sv.managed_session():
                raise KeyError("mine")


def test_coordinator_raises_the_first_error():
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise ValueError("first")
    with coord.stop_on_exception():
        raise KeyError("second")
    with pytest.raises(ValueError, match="first"):
        coord.join([])


def test_timer_by_steps():
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    due = []
    for step in np.arange(8):
        if timer.should_trigger_for_step(step):
            timer.update_last_triggered_step(step)
            due.append(int(step))
    assert due == [0, 3, 6]


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (tf.train.SecondOrStepTimer, ("every_secs", "every_steps")),
        (tf.train.StepCounterHook, ("every_n_steps", "every_n_secs")),
        (tf.train.StopAtStepHook, ("num_steps", "last_step")),
        (lambda **given: tf.train.LoggingTensorHook([], **given), ("every_n_iter", "every_n_secs")),
        (lambda **given: tf.train.SummarySaverHook(save_steps=1, **given), ("scaffold", "summary_op")),
    ],
)
def test_one_of_two_arguments_is_needed(make, arguments):
    for value in (None, 1):
        with pytest.raises(ValueError, match=f"exactly one of {' and '.join(arguments)}"):
            make(**dict.fromkeys(arguments, value))


@pytest.mark.parametrize("error, lost", [(tf.errors.AbortedError, True), (tf.errors.UnknownError, False)])
def test_a_thread_that_lost_its_worker(error, lost):
    class Losing(tf.train.SessionRunHook):
        created = 0

        def after_create_session(self, session, coord):
            self.coord, self.created = coord, self.created + 1

        def lose(self):
            try:
                raise error(None, None, "lost")
            except error as e:
                self.coord.request_stop(e)

    hook, seen = Losing(), []
    with tf.Graph().as_default(), contextlib.nullcontext() if lost else pytest.raises(error, match="lost"):
        step = tf.assign_add(tf.Variable(0), 1)
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            seen.append(sess.run(step))
            hook.lose()
            assert not sess.should_stop()
            seen.append(sess.run(step))
    assert hook.created == (2 if lost else 1) and seen == ([1, 1] if lost else [1])


def _logged(monkeypatch):
    lines = []
    monkeypatch.setattr(logging, "log_first_n", lambda level, text, n, *args: lines.append(text % args))
    return lines


def test_a_step_that_stands_still_is_told_of(monkeypatch):
    lines = _logged(monkeypatch)
    with tf.Graph().as_default():
        step, bump = counting()
        with tf.train.SingularMonitoredSession(hooks=[tf.train.StepCounterHook(every_n_steps=10)]) as session:
            session.run(bump)
            session.run(bump)
            assert not any("has not been increased" in line for line in lines)
            session.run(step)
            session.run(step)
    assert sum("has not been increased" in line for line in lines) == 1


def test_a_worker_wants_devices_and_a_step_of_any_shape(tmp_path):
    with tf.Graph().as_default():
        tf.Variable(1.0, name="w")
        with pytest.raises(ValueError, match="'w' has none"):
            tf.train.Supervisor(is_chief=False)
    with tf.Graph().as_default():
        tf.Variable([123], name="global_step")
        supervisor = tf.train.Supervisor(logdir=str(tmp_path))
        with supervisor.managed_session() as session:
            assert session.run(supervisor.global_step).tolist() == [123]
