"""tf.contrib.testing: what hooks and writers wrote, in tests of programs."""

import pytest

import everflow as tf
from everflow.contrib import testing


class Case(tf.test.TestCase):
    __test__ = False

    def runTest(self):
        pass


def test_a_writer_that_remembers(tmp_path):
    testing.FakeSummaryWriter.install()
    try:
        with pytest.raises(ValueError, match="installed already"):
            testing.FakeSummaryWriter.install()
        with tf.Graph().as_default() as graph:
            step = tf.train.get_or_create_global_step()
            tf.summary.scalar("loss", tf.constant(0.5))
            hook = tf.train.SummarySaverHook(save_steps=1, output_dir=str(tmp_path), summary_op=tf.summary.merge_all())
            with tf.train.SingularMonitoredSession(hooks=[hook]) as sess:
                sess.run(step)
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
        writer.assert_summaries(Case(), expected_logdir=str(tmp_path), expected_graph=graph)
        assert writer.summaries[0][0].value[0].simple_value == 0.5
        with pytest.raises(AssertionError):
            writer.assert_summaries(Case(), expected_summaries={0: {"loss": 0.25}})
    finally:
        testing.FakeSummaryWriter.uninstall()
    assert isinstance(tf.summary.FileWriterCache.get(str(tmp_path)), tf.summary.FileWriter)


def test_what_is_in_the_newest_event_file(tmp_path):
    assert testing.latest_event_file(str(tmp_path)) is None and testing.latest_events(str(tmp_path)) == []
    writer = tf.summary.FileWriter(str(tmp_path))
    summary = tf.Summary(value=[{"tag": "a", "simple_value": 3.0}, {"tag": "b", "simple_value": 4.0}])
    writer.add_summary(summary, 5)
    writer.close()
    (event,) = testing.latest_summaries(str(tmp_path))
    testing.assert_summary(["a", "b"], [3.0, 4.0], event.summary)
    with pytest.raises(AssertionError):
        testing.assert_summary(["a", "c"], [3.0, 4.0], event.summary)
    assert testing.simple_values_from_events(testing.latest_events(str(tmp_path)), ["b"]) == {5: {"b": 4.0}}
    assert testing.to_summary_proto(summary.SerializeToString()) == summary
