"""`%load_ext everflow`: what a cell's runs took, a curve of a loss, and errors with the cell's own lines."""

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import everflow as tf
from everflow.notebook import magics

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def shell():
    made = InteractiveShell()
    made.run_cell("%load_ext everflow\nimport everflow as tf")
    return made


def test_cells_are_timed(shell, capsys):
    shell.run_cell("x = tf.constant(3.0)\nsess = tf.Session()")
    shell.run_cell("%%tf\nfor _ in range(3):\n    y = sess.run(x)")
    assert "; 3 runs took " in capsys.readouterr().out and shell.user_ns["y"] == 3.0
    shell.run_cell("%%tf\nz = tf.constant(1)")
    assert "; 0 runs took 0.00 s; 1 ops added to the graph" in capsys.readouterr().out


def test_a_watch_notes_what_is_fetched():
    loss, other = tf.constant([1.0, 3.0]), tf.constant(5.0)
    watch = magics.Watch({"loss": loss})
    drawn = []
    with tf.Session() as sess:
        with magics.watching(watch, lambda: drawn.append(len(watch.curves["loss"]))):
            sess.run(loss)
            sess.run({"a": [other, loss], "b": other})
            sess.run([other])
        sess.run(loss)
    assert watch.runs == 3 and watch.curves == {"loss": [2.0, 2.0]} and drawn[0] == 1


def test_names_that_are_no_tensors(shell, capsys):
    shell.run_cell("%%tf --plot los\npass")
    assert "%%tf --plot los: there is no tensor of this name" in capsys.readouterr().out


def test_curves():
    text = magics.curves_svg({"loss": [3.0, 2.0, float("nan"), 1.0], "<b>": [1.0]})
    assert text.count("<polyline") == 2 and "loss 1" in text and "&lt;b&gt; 1" in text and "4 runs" not in text
    assert "nothing fetched yet" in magics.curves_svg({"loss": []})
    assert magics.curves_svg({"loss": list(np.ones(5000))}).count(",") < 1000


def test_errors_show_the_cells_lines(shell, capsys, monkeypatch):
    monkeypatch.delenv("EVERFLOW_TRACEBACK", raising=False)
    shell.run_cell("tf.ones([3]) + tf.ones([4])")
    shown = capsys.readouterr().out
    assert "frames of everflow" in shown and "ValueError: Dimensions must be equal" in shown
    shell.run_cell("1 / 0")
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_shells_know_the_displays(shell):
    assert "text/html" in shell.display_formatter.format(tf.constant(1.0))[0]
