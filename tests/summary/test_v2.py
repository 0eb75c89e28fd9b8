"""tf.compat.v2.summary: what is written, drawn in graphs and executing eagerly."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

summary = tf.compat.v2.summary


def read(folder):
    """Step, tag, plug-in and array of each value in the only event file of a folder."""
    (path,) = folder.iterdir()
    events = tf.train.summary_iterator(str(path))
    return [
        (e.step, v.tag, v.metadata.plugin_data.plugin_name, tf.make_ndarray(v.tensor))
        for e in events
        for v in e.summary.value
    ]


def test_graph(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default(), tf.name_scope("model"):
            summary.scalar("loss", 0.5, step=3, description="what is made small")
            summary.histogram("weights", [1.0, 2.0, 3.0], step=3, buckets=2)
            summary.histogram("same", [2.0, 2.0], step=3)
            summary.image("pictures", np.zeros([5, 2, 3, 1], np.float32), step=3)
            summary.audio("sounds", np.zeros([1, 10, 1], np.float32), 8000, step=3)
            summary.text("words", ["a", "b"], step=3)
            with summary.record_if(False):
                summary.scalar("never", 0.5, step=3)
        sess.run(writer.init())
        sess.run(tf.summary.all_v2_summary_ops())
        sess.run(writer.close())
    found = {tag: (plugin, array) for _, tag, plugin, array in read(tmp_path)}
    assert {tag: plugin for tag, (plugin, _) in found.items()} == {
        "model/loss": "scalars", "model/weights": "histograms", "model/same": "histograms",
        "model/pictures": "images", "model/sounds": "audio", "model/words": "text",
    }  # fmt: skip
    assert found["model/weights"][1].tolist() == [[1.0, 2.0, 1.0], [2.0, 3.0, 2.0]]
    assert found["model/same"][1].tolist() == [[1.5, 2.5, 2.0]]
    assert found["model/pictures"][1][:2].tolist() == [b"3", b"2"] and len(found["model/pictures"][1]) == 5


def test_eager(tmp_path):
    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path), filename_suffix=".mine")
        assert not summary.scalar("nowhere", 1.0, step=1).numpy()
        with writer.as_default():
            with pytest.raises(ValueError, match="No step"):
                summary.scalar("loss", 1.0)
            summary.experimental.set_step(7)
            try:
                assert summary.scalar("loss", 1.0).numpy()
            finally:
                summary.experimental.set_step(None)
            writer.close()
        with pytest.raises(RuntimeError, match="closed"):
            writer.set_as_default()
    assert [(step, tag) for step, tag, _, _ in read(tmp_path)] == [(7, "loss")]


def test_the_graphs_of_functions_that_ran_are_written(tmp_path):
    with eager_mode():
        double = tf.function(lambda x: x * 2.0)
        summary.trace_on()
        double(tf.constant(1.0))
        double(tf.constant(2.0))
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            summary.trace_export("calls", step=4)
        writer.close()
        with pytest.raises(ValueError, match="call trace_on before"):
            summary.trace_export("calls", step=5)
    ((step, tag, plugin, text),) = read(tmp_path)
    assert (step, tag, plugin) == (4, "calls", "graph_run_metadata_graph")
    (found,) = tf.RunMetadata.FromString(text.item()).function_graphs
    types = [node.op for node in found.pre_optimization_graph.node]
    assert types == ["_Arg", "Const", "Mul", "Identity", "_Retval"]


def test_a_trace_with_a_profile(tmp_path):
    with eager_mode():
        summary.trace_on(graph=False, profiler=True)
        tf.square(tf.constant([3.0]))
        with pytest.raises(ValueError, match="profiler_outdir"):
            summary.trace_export("times", step=1)
        summary.trace_export("times", step=1, profiler_outdir=str(tmp_path))
        summary.trace_on(profiler=True)
        summary.trace_off()
        with pytest.raises(ValueError, match="call trace_on before"):
            summary.trace_export("times", step=1, profiler_outdir=str(tmp_path))
    assert len(list(tmp_path.glob("plugins/profile/*/local.trace"))) == 1


def test_a_trace_needs_eager_mode_a_step_and_only_one_beginning(caplog):
    with tf.Graph().as_default():
        assert summary.trace_on() is None and summary.trace_export("nothing", step=1) is None
    with eager_mode():
        summary.trace_on()
        summary.trace_on()
        summary.trace_off()
        with pytest.raises(ValueError):
            summary.trace_export("off", step=1)


def test_several_raw_summaries_are_one_event(tmp_path):
    text = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]).SerializeToString()
    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            tf.compat.v2.summary.experimental.write_raw_pb([text, text], step=1)
        writer.close()
    (path,) = tmp_path.iterdir()
    assert [len(e.summary.value) for e in tf.train.summary_iterator(str(path))] == [0, 2]
