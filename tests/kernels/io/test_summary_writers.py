"""Writers as resources: what is written is in the file, in order; closed and unopened writers say so."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos import event_pb2, graph_pb2, node_def_pb2, summary_pb2


@pytest.fixture
def writer(sess, tmp_path):
    handle = tf.raw_ops.SummaryWriter(shared_name="w", container="")
    sess.run(
        tf.raw_ops.CreateSummaryFileWriter(
            writer=handle, logdir=str(tmp_path), max_queue=10, flush_millis=1000, filename_suffix=".x"
        )
    )
    return handle


def events(sess, writer, folder):
    sess.run(tf.raw_ops.FlushSummaryWriter(writer=writer))
    (path,) = folder.iterdir()
    assert path.name.endswith(".x")
    return list(tf.train.summary_iterator(str(path)))[1:]


def step(n):
    return tf.constant(n, tf.int64)


def test_values_of_every_kind(sess, writer, tmp_path):
    for op in (
        tf.raw_ops.WriteScalarSummary(writer=writer, step=step(1), tag="s", value=2.5),
        tf.raw_ops.WriteHistogramSummary(writer=writer, step=step(2), tag="h", values=[1.0, 2.0]),
        tf.raw_ops.WriteImageSummary(
            writer=writer, step=step(3), tag="i", tensor=np.zeros([1, 2, 2, 3], np.float32),
            bad_color=np.uint8([255, 0, 0, 255]), max_images=1,
        ),
        tf.raw_ops.WriteAudioSummary(
            writer=writer, step=step(4), tag="a", tensor=np.zeros([1, 4], np.float32), sample_rate=8000.0, max_outputs=1
        ),
        tf.raw_ops.WriteSummary(writer=writer, step=step(5), tensor=[1, 2], tag="t", summary_metadata=b""),
    ):  # fmt: skip
        sess.run(op)
    found = events(sess, writer, tmp_path)
    assert [e.step for e in found] == [1, 2, 3, 4, 5]
    kinds = [e.summary.value[0].WhichOneof("value") for e in found]
    assert kinds == ["simple_value", "histo", "image", "audio", "tensor"]
    assert found[0].summary.value[0].simple_value == 2.5
    assert tf.make_ndarray(found[4].summary.value[0].tensor).tolist() == [1, 2]


def test_messages_are_taken_as_they_are(sess, writer, tmp_path):
    summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="r", simple_value=1.0)])
    graph = graph_pb2.GraphDef(node=[node_def_pb2.NodeDef(name="n", op="NoOp")]).SerializeToString()
    event = event_pb2.Event(step=9, wall_time=5.0, summary=summary)
    sess.run(tf.raw_ops.WriteRawProtoSummary(writer=writer, step=step(7), tensor=summary.SerializeToString()))
    sess.run(tf.raw_ops.WriteGraphSummary(writer=writer, step=step(8), tensor=graph))
    sess.run(tf.raw_ops.ImportEvent(writer=writer, event=event.SerializeToString()))
    raw, drawn, imported = events(sess, writer, tmp_path)
    assert (raw.step, raw.summary) == (7, summary) and drawn.graph_def == graph and imported == event


@pytest.mark.parametrize(
    "build",
    [
        lambda w: tf.raw_ops.ImportEvent(writer=w, event=b"\xff\xff"),
        lambda w: tf.raw_ops.WriteGraphSummary(writer=w, step=step(0), tensor=b"\xff\xff"),
        lambda w: tf.raw_ops.WriteRawProtoSummary(writer=w, step=step(0), tensor=b"\xff\xff"),
    ],
)
def test_bytes_that_are_no_message(sess, writer, build):
    with pytest.raises(tf.errors.DataLossError):
        sess.run(build(writer))


def test_a_closed_writer_is_gone_until_it_is_made_again(sess, writer, tmp_path):
    write = tf.raw_ops.WriteScalarSummary(writer=writer, step=step(1), tag="s", value=1.0)
    sess.run(write)
    sess.run(tf.raw_ops.CloseSummaryWriter(writer=writer))
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(write)
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(tf.raw_ops.FlushSummaryWriter(writer=tf.raw_ops.SummaryWriter(shared_name="other", container="")))


def test_one_name_is_one_writer_and_stays_with_its_first_file(sess, writer, tmp_path):
    same = tf.raw_ops.SummaryWriter(shared_name="w", container="")
    sess.run(
        tf.raw_ops.CreateSummaryFileWriter(
            writer=same, logdir=str(tmp_path / "other"), max_queue=1, flush_millis=1, filename_suffix=".y"
        )
    )
    sess.run(tf.raw_ops.WriteScalarSummary(writer=same, step=step(3), tag="s", value=1.0))
    assert [e.step for e in events(sess, writer, tmp_path)] == [3]
