"""everflow inspect, freeze and strip on files of every kind."""

from __future__ import annotations

import gzip
import json
import os
import shutil

import numpy as np
import pytest

import everflow as tf
from everflow.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint of both versions, a graph, a SavedModel, events and records."""
    folder = tmp_path_factory.mktemp("files")
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        y = tf.matmul(x, w, name="y")
        tf.exp(y, name="unused")
        sess.run(w.initializer)
        tf.train.Saver().save(sess, str(folder / "model"))
        tf.train.Saver(write_version=tf.train.SaverDef.V1).save(
            sess, str(folder / "old"), write_meta_graph=False, write_state=False
        )
        tf.train.write_graph(graph, str(folder), "graph.pbtxt")
        tf.saved_model.simple_save(sess, str(folder / "export"), {"x": x}, {"y": y})
    with tf.python_io.TFRecordWriter(str(folder / "data.tfrecord")) as writer:
        for i in range(3):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[i] * (i + 1)))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"ids": feature})).SerializeToString())
    with tf.summary.FileWriter(str(folder / "logs")) as events:
        for step in range(4):
            events.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=step / 2)]), step)
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model", ["1 tensor", "float32  [2, 1]"]),
        ("model.index", ["1 tensor"]),
        ("old", ["Checkpoint", "float32  [2, 1]"]),
        ("", ["1 checkpoint in"]),
        ("model.meta", ["Meta graph", "trainable_variables", "MatMul"]),
        ("graph.pbtxt", ["Graph", "x      float32  [?, 2]", "unused"]),
        ("export", ["SavedModel", "serving_default", "1 tensor"]),
        ("export/saved_model.pb", ["SavedModel"]),
        ("data.tfrecord", ["3 records", "ids      int64  1 to 3"]),
        ("logs/*", ["5 events", "loss  simple_value"]),
        ("logs", ["5 events", "loss  simple_value"]),
    ],
)
def test_inspect_tells(folder, capsys, name, expected):
    path = next(folder.glob(name)) if "*" in name else folder / name
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    for text in expected:
        assert text in out, out


def test_inspect_keeps_rows_whole_where_there_is_no_terminal(tmp_path, capsys):
    name = "a_scope_of_a_long_name/" * 10 + "w"
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.get_variable(name, [2], initializer=tf.zeros_initializer()).initializer)
        tf.train.Saver().save(sess, str(tmp_path / "model"))
    assert main(["inspect", str(tmp_path / "model")]) == 0
    assert f"{name}  float32  [2]" in capsys.readouterr().out


def test_inspect_a_tensor_and_what_is_not_there(folder, capsys):
    assert main(["inspect", str(folder / "model"), "--tensor", "w"]) == 0
    assert "[2.]" in capsys.readouterr().out
    assert main(["inspect", str(folder / "model"), "--tensor", "nothing"]) == 1
    assert "Key nothing not found" in capsys.readouterr().err
    assert main(["inspect", str(folder / "nothing")]) == 1
    (folder / "empty").mkdir()
    assert main(["inspect", str(folder / "empty")]) == 1
    assert "nor event files" in capsys.readouterr().err
    assert main(["inspect"]) == 2


def test_freeze_strip_and_plan(folder, tmp_path, capsys):
    frozen, small = str(tmp_path / "frozen.pb"), str(tmp_path / "small.pb")
    for model, more in (("model", []), ("export", []), ("model", ["--graph", str(folder / "graph.pbtxt")]), ("", [])):
        assert main(["freeze", str(folder / model), "--outputs", "unused", "--to", frozen, *more]) == 0
        assert main(["strip", frozen, "--inputs", "x", "--outputs", "y", "--to", small, "--optimize"]) == 0
        with open(small, "rb") as f:
            graph_def = tf.GraphDef.FromString(f.read())
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.import_graph_def(graph_def, name="")
            np.testing.assert_array_equal(sess.run("y:0", {"x:0": [[1, 1]]}), [[3]])
            assert "unused" not in {op.name for op in sess.graph.get_operations()}
    capsys.readouterr()
    assert main(["inspect", "--plan", small, "--fetch", "y:0", "--feed", "x:0"]) == 0
    assert "y (MatMul)" in capsys.readouterr().out
    assert main(["freeze", str(folder / "model"), "--outputs", "nothing", "--to", frozen]) == 1
    assert main(["strip", small, "--inputs", "nothing", "--outputs", "y", "--to", small]) == 1


def test_inspect_opens_folders_of_versions_and_logs(folder, tmp_path, capsys):
    for version in ("1", "12", "notes"):
        shutil.copytree(folder / "export", tmp_path / "models" / version)
    assert main(["inspect", str(tmp_path / "models")]) == 0
    out = capsys.readouterr().out
    assert "2 versions in" in out and ": 12, 1; the newest:" in out and "serving_default" in out
    shutil.copytree(folder / "logs", tmp_path / "logs" / "train")
    shutil.copytree(folder / "logs", tmp_path / "logs" / "eval")
    assert main(["inspect", str(tmp_path / "logs")]) == 0
    out = capsys.readouterr().out
    assert "1 event file in" in out and "train" in out and "eval" in out and out.count("simple_value") == 2
    for name in ("model.index", "model.data-00000-of-00001"):
        shutil.copy(folder / name, tmp_path / name)
    assert main(["inspect", str(tmp_path)]) == 0  # a checkpoint without its state file, and logs
    out = capsys.readouterr().out
    assert "1 checkpoint in" in out and "event file in" in out
    (tmp_path / "empty").mkdir()
    assert main(["inspect", str(tmp_path / "empty")]) == 1


def test_inspect_reads_records_up_to_where_they_end(folder, tmp_path, capsys):
    for source in (folder / "data.tfrecord", next((folder / "logs").iterdir())):
        cut = tmp_path / source.name
        cut.write_bytes(source.read_bytes()[:-5])
        assert main(["inspect", str(cut)]) == 0
        out = capsys.readouterr().out
        assert ("2 records" in out or "4 events" in out) and "it ends there:" in out
    packed = tmp_path / "packed.tfrecord"
    packed.write_bytes(gzip.compress((folder / "data.tfrecord").read_bytes()))
    assert main(["inspect", str(packed)]) == 0
    assert "3 records" in capsys.readouterr().out


def test_inspect_in_json(folder, capsys):
    assert main(["inspect", "--json", str(folder / "model")]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["parts"][1]["rows"] == [{"tensor": "w", "type": "float32", "shape": "[2, 1]", "values": 2}]


@pytest.mark.parametrize("name", ["model.index", "model.meta", "graph.pbtxt", "export/saved_model.pb", "data.tfrecord"])
def test_inspect_says_in_a_line_what_it_cannot_read(folder, tmp_path, capsys, name):
    """Files cut off anywhere, and with a byte changed, are described or refused, but never with a traceback."""
    data = (folder / name).read_bytes()
    chance = np.random.RandomState(0)
    broken = tmp_path / os.path.basename(name)
    for i in range(25):
        at = chance.randint(1, len(data))
        broken.write_bytes(data[:at] if i % 2 else data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        code = main(["inspect", str(broken)])
        errors = capsys.readouterr().err
        assert (code, len(errors.splitlines())) in ((0, 0), (1, 1)), errors


def test_several_nodes_are_given_with_spaces_or_commas(folder, tmp_path):
    for way in (["y", "unused"], ["y,unused"]):
        frozen, small = str(tmp_path / "frozen.pb"), str(tmp_path / "small.pb")
        assert main(["freeze", str(folder / "model"), "--outputs", *way, "--to", frozen]) == 0
        assert main(["strip", frozen, "--inputs", "x", "--outputs", *way, "--to", small]) == 0
        with open(small, "rb") as f:
            assert {"y", "unused"} <= {node.name for node in tf.GraphDef.FromString(f.read()).node}
