"""tf.contrib.summary.create_db_writer: the rows that one run leaves, drawn in a graph, and what a second run shares
with it.
"""

import sqlite3

import numpy as np
import pytest

import everflow as tf

summary = tf.contrib.summary


def write(path, run_name):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.create_global_step()
        writer = summary.create_db_writer(str(path), experiment_name="e", run_name=run_name, user_name="me")
        with writer.as_default(), summary.always_record_summaries():
            summary.scalar("count", 3, step=1)
            summary.histogram("h", [1.0, 2.0], step=1)
            summary.image("im", np.zeros([1, 4, 2, 3], np.uint8), max_images=1, step=1)
            summary.generic("words", tf.constant(["a", "b"]), step=1)
            summary.initialize(graph=graph, session=sess)
        for _ in range(2):  # a step that is written again replaces what was there
            sess.run(summary.all_summary_ops())
        sess.run(writer.close())


def test_rows(tmp_path):
    path = tmp_path / "runs.sqlite"
    write(path, "first")
    write(path, "second")
    with sqlite3.connect(path) as db:
        counts = {
            table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in ("Users", "Experiments", "Runs", "Graphs", "Tags")
        }
        assert counts == {"Users": 1, "Experiments": 1, "Runs": 2, "Graphs": 2, "Tags": 8}
        tensors = {
            tag: (plugin, step, dtype, shape, data)
            for tag, plugin, step, dtype, shape, data in db.execute(
                "SELECT tag_name, plugin_name, step, dtype, shape, data FROM Tensors JOIN Tags ON series = tag_id"
            )
        }
        assert tensors["count"] == ("scalars", 1, tf.int32.as_datatype_enum, "", np.int32(3).tobytes())
        assert tensors["h"][0] == "histograms" and tensors["h"][3].endswith(",3")
        assert tensors["im/image"][0] == "images" and tensors["im/image"][3] == "3"
        assert tensors["words"] == ("", 1, tf.string.as_datatype_enum, "2", None)
        strings = "SELECT TensorStrings.data FROM TensorStrings JOIN Tensors ON tensor_rowid = Tensors.rowid JOIN Tags ON series = tag_id"
        assert (
            db.execute(f"{strings} WHERE tag_name = 'words' ORDER BY run_id, idx").fetchall() == [(b"a",), (b"b",)] * 2
        )
        edges = "SELECT COUNT(*) FROM NodeInputs JOIN Nodes USING (graph_id, node_id) WHERE op = 'WriteScalarSummary'"
        assert db.execute(edges).fetchone() == (2 * 4,)
        assert all(
            finished >= started for started, finished in db.execute("SELECT started_time, finished_time FROM Runs")
        )


def test_names_and_places(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        for wrong in ({"user_name": "A B"}, {"run_name": "<>"}, {"experiment_name": "x" * 257}):
            with pytest.raises(ValueError, match="must match"):
                summary.create_db_writer(str(tmp_path / "db"), **wrong)
        writer = summary.create_db_writer(str(tmp_path / "missing" / "db"), user_name="me")
        with pytest.raises(tf.errors.InvalidArgumentError, match="can't be opened"):
            sess.run(writer.init())
