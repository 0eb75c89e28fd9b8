"""tf_upgrade_v2: programs of TensorFlow 1 rewritten for 2."""

import json

import pytest

from everflow.compat.upgrade import main, upgraded


def lines(*statements, mode="DEFAULT"):
    made, notes = upgraded("\n".join(["import tensorflow as tf", *statements]), mode)
    return made.splitlines()[1:], notes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.placeholder(tf.float32)", "tf.compat.v1.placeholder(tf.float32)"),
        ("tf.log(tf.nn.relu(x))", "tf.math.log(tf.nn.relu(x))"),
        ("tf.reduce_mean(x, reduction_indices=0, keep_dims=True)", "tf.reduce_mean(x, axis=0, keepdims=True)"),
        ("tf.argmax(x, dimension=1)", "tf.argmax(x, axis=1)"),
        ("tf.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME')", "tf.compat.v1.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME')"),
        ("with tf.Session() as s: pass", "with tf.compat.v1.Session() as s: pass"),
        ("'é', tf.log(x)", "'é', tf.math.log(x)"),
        ("d.make_one_shot_iterator()", "tf.compat.v1.data.make_one_shot_iterator(d)"),
        ("other.log(x)", "other.log(x)"),
    ],
)
def test_names_and_arguments(before, after):
    assert lines(before)[0] == [after]


def test_contrib_is_told():
    made, notes = lines("tf.contrib.layers.fully_connected(x, 3)")
    assert made == ["tf.contrib.layers.fully_connected(x, 3)"] and [note.level for note in notes] == ["ERROR"]


def test_safety_only_changes_the_import():
    made, _ = upgraded("import tensorflow as tf\ntf.log(3)", "SAFETY")
    assert made == "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.log(3)"


def test_files_trees_and_notebooks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a.py").write_text("import tensorflow as tf\ntf.log(1)\n")
    (tmp_path / "in" / "data.txt").write_text("as it is")
    cells = [
        {"cell_type": "code", "source": ["import tensorflow as tf\n"]},
        {"cell_type": "code", "source": ["tf.log(1)"]},
    ]
    (tmp_path / "in" / "n.ipynb").write_text(json.dumps({"cells": cells}))
    assert main(["--intree", "in", "--outtree", "out"]) == 0
    assert (tmp_path / "out" / "deep" / "a.py").read_text() == "import tensorflow as tf\ntf.math.log(1)\n"
    assert (tmp_path / "out" / "data.txt").read_text() == "as it is"
    assert json.loads((tmp_path / "out" / "n.ipynb").read_text())["cells"][1]["source"] == ["tf.math.log(1)"]
    assert "Converted 2 files" in capsys.readouterr().out and "Renamed" in (tmp_path / "report.txt").read_text()
    with pytest.raises(SystemExit):
        main(["--infile", "in/deep/a.py"])
