"""Monitors of tf.contrib.learn: when they are told, what they get, what they keep."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.learn import monitors


def _train(make, steps=6):
    """Runs steps that count a variable up; the monitors that `make(loss)` gave, and how many steps there were."""
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        v = tf.get_variable("v", initializer=1.0)
        loss = tf.identity(v * 1.0, name="loss")
        tf.summary.scalar("s", v)
        train = tf.group(tf.assign_add(tf.train.get_global_step(), 1), v.assign_add(1.0))
        made = make(loss)
        taken = 0
        with tf.train.MonitoredSession(hooks=[monitors.RunHookAdapterForMonitors(made)]) as session:
            while not session.should_stop() and taken < steps:
                session.run(train)
                taken += 1
    return made, taken


class _Noting(monitors.EveryN):
    def __init__(self, *args):
        super().__init__(*args)
        self.noted = []

    def every_n_step_begin(self, step):
        return ["loss"]

    def every_n_step_end(self, step, outputs):
        self.noted.append((int(step), outputs["loss"]))

    def every_n_post_step(self, step, session):
        self.noted.append(int(step))


@pytest.mark.parametrize(
    "every, first, seen",
    [(3, 2, [1, 2, 5, 8, 10]), (100, 1, [1, 10]), (4, 0, [4, 8, 10]), (5, 0, [5, 10])],
)
def test_every_n_steps_and_the_last(every, first, seen):
    (monitor,), taken = _train(lambda loss: [_Noting(every, first)], steps=10)
    assert taken == 10 and [note for note in monitor.noted if isinstance(note, int)] == seen
    outputs = [note for note in monitor.noted if isinstance(note, tuple)]
    assert all(step == value for step, value in outputs) and len(outputs) >= len(seen) - 1


def test_monitors_that_stop():
    assert _train(lambda loss: [monitors.StopAtStep(num_steps=3)])[1] == 3
    assert _train(lambda loss: [monitors.StopAtStep(last_step=2)])[1] == 2
    with pytest.raises(ValueError, match="one of"):
        monitors.StopAtStep()


def test_a_loss_that_is_no_number():
    def of(fails):
        return lambda loss: [monitors.NanLoss(loss * np.nan, every_n_steps=1, fail_on_nan_loss=fails)]

    assert _train(of(False))[1] == 1
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        _train(of(True))


def test_what_monitors_keep(tmp_path):
    def make(loss):
        return [
            monitors.CaptureVariable("v", every_n=2),
            monitors.GraphDump(),
            monitors.SummarySaver(tf.summary.merge_all(), save_steps=2, output_dir=str(tmp_path / "events")),
            monitors.StepCounter(every_n_steps=2, output_dir=str(tmp_path / "steps")),
            monitors.CheckpointSaver(str(tmp_path / "saved"), save_steps=2),
        ]

    (captured, dump, *_), _ = _train(make)
    assert {int(k): float(v) for k, v in captured.values.items()} == {1: 2, 3: 4, 5: 6}
    assert sorted(map(int, dump.data)) == [1, 2, 3, 4, 5, 6] and float(dump.data[3]["mul:0"]) == 3
    alike, other = dump.compare(dump, step=2)
    assert "mul:0" in alike and not other
    (events,) = (tmp_path / "events").iterdir()
    written = [(e.step, e.summary.value[0].tag) for e in tf.train.summary_iterator(str(events)) if e.summary.value]
    assert written == [(1, "s"), (3, "s"), (5, "s")]
    saved = sorted(file.name for file in (tmp_path / "saved").glob("*.index"))
    assert saved == [f"model.ckpt-{step}.index" for step in (1, 3, 5, 6)]


@pytest.mark.parametrize(
    "calls",
    [
        [("end",)],
        [("begin",), ("begin",)],
        [("epoch_begin", -1)],
        [("epoch_end", 0)],
        [("epoch_begin", 0), ("epoch_begin", 1)],
        [("step_begin", -1)],
        [("begin", 3), ("step_begin", 9)],
        [("step_end", 1, {})],
        [("set_estimator", None)],
    ],
)
def test_calls_out_of_order_are_refused(calls):
    monitor = monitors.BaseMonitor()
    with pytest.raises(ValueError):
        for name, *args in calls:
            getattr(monitor, name)(*args)


def test_monitors_become_one_hook():
    class Estimator:
        class config:
            is_chief = False

    hook = tf.train.SessionRunHook()
    made = monitors.replace_monitors_with_hooks(
        [monitors.StopAtStep(2), hook, monitors.PrintTensor(["loss"])], Estimator()
    )
    assert made[0] is hook and [type(m).__name__ for m in made[1]._monitors] == ["StopAtStep"]
    with tf.Graph().as_default():
        loss = tf.constant(1.0, name="loss")
        assert [type(m).__name__ for m in monitors.get_default_monitors(loss)] == ["PrintTensor"]
