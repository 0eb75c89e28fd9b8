"""The progress of long work, as terminals, notebooks and pipes see it."""

import io
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.platform import progress
from everflow.platform.progress import Work

WIPED = "\x1b7\x1b[B\r\x1b[2K\x1b8"


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    """Makes a terminal in place of both outputs, on which everything is shown at once."""

    def make():
        made = Screen()
        monkeypatch.setattr(progress, "_DELAY", 0)
        monkeypatch.setattr(progress, "_PAUSE", 0)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stdout", made)
        monkeypatch.setattr(sys, "stderr", made)
        return made

    return make


def test_a_line_below_the_cursor_that_goes(screen):
    screen = screen()
    with Work("Saving a.ckpt", 4_000_000, "bytes") as work:
        work.advance(1_000_000)
        shown = screen.getvalue()
        assert "\x1b[B\r\x1b[2KSaving a.ckpt: 1 of 4 MB, " in shown and shown.endswith("left\x1b8")
    assert screen.getvalue() == shown + WIPED
    assert sys.stdout is screen


def test_it_is_wiped_before_the_program_prints(screen):
    screen = screen()
    with Work("Training", 10) as work:
        work.advance(loss=0.5)
        before = screen.getvalue()
        assert "Training: 1 of 10 steps, loss = 0.5, " in before
        print("step", 1)
        assert screen.getvalue() == before + WIPED + "step 1\n"
        tf.logging.warning("a warning")
        work.advance()
        assert "2 of 10 steps" in screen.getvalue()
    assert screen.getvalue().endswith(WIPED)


def test_what_is_dropped_is_wiped(screen):
    screen = screen()
    work = Work("Filling the cache")
    work.advance()
    del work
    assert screen.getvalue().endswith(WIPED)


def test_short_work_shows_nothing(screen, monkeypatch):
    screen = screen()
    monkeypatch.setattr(progress, "_DELAY", 1000)
    with Work("Training") as work:
        work.advance()
    assert screen.getvalue() == ""


@pytest.mark.parametrize("reason", ["piped", "dumb", "off"])
def test_nothing_where_nobody_looks(screen, monkeypatch, reason):
    screen = screen()
    if reason == "piped":
        monkeypatch.setattr(sys, "stderr", io.StringIO())
    if reason == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if reason == "off":
        monkeypatch.setenv("EVERFLOW_PROGRESS", "off")
    with Work("Training") as work:
        work.advance()
    assert screen.getvalue() == "" and sys.stderr.getvalue() == ""


@pytest.mark.usefixtures("own_graph")
def test_checkpoints_and_caches_and_estimators_show_it(screen, tmp_path):
    screen = screen()
    v = tf.get_variable("v", [1 << 20])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
        saver.restore(sess, path)
    assert "Saving model: 4 of 4 MB" in screen.getvalue()
    assert "Restoring model: 4 of 4 MB" in screen.getvalue()

    element = tf.data.Dataset.range(3).cache(str(tmp_path / "cache")).make_one_shot_iterator().get_next()
    in_memory = tf.data.Dataset.range(3).cache().batch(2).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        for fetch in (element, in_memory):
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    sess.run(fetch)
    assert "cache: 3 of 3 elements" in screen.getvalue() and "in memory: 3 of 3 elements" in screen.getvalue()

    x = np.ones([4, 1], np.float32)
    data = tf.estimator.inputs.numpy_input_fn({"x": x}, x, shuffle=False, num_epochs=None)
    model = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], str(tmp_path / "estimator"))
    model.train(data, steps=2)
    model.evaluate(data, steps=3)
    assert "Training: 2 of 2 steps, loss = " in screen.getvalue()
    assert "Evaluating: 3 of 3 batches" in screen.getvalue()
    assert screen.getvalue().endswith(WIPED)


def test_a_notebook_keeps_what_was_done(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/html"])

    def display(data, raw, display_id):
        shown.append(data["text/html"])
        return Handle()

    monkeypatch.setattr(progress, "_DELAY", 0)
    monkeypatch.setattr(progress, "_PAUSE", 0)
    monkeypatch.setattr(progress, "_surface", progress._Notebook)
    monkeypatch.setattr("IPython.display.display", display)
    with Work("Training", 2) as work:
        work.advance()
        work.advance()
    assert shown[0].startswith('<progress max="2" value="1"></progress> Training: 1 of 2 steps')
    assert "2 of 2 steps" in shown[-1]
