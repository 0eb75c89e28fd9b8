"""Writers of summaries that write themselves: when files come to be, how events wait, and what closing means."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

summary = tf.compat.v2.summary


def events(folder):
    return [e for path in folder.iterdir() for e in tf.train.summary_iterator(str(path))]


@pytest.mark.parametrize("max_queue, seen", [(0, [2, 3, 4]), (1, [1, 3, 3])])
def test_the_file_is_there_at_once_and_takes_events_when_more_wait_than_the_queue_holds(tmp_path, max_queue, seen):
    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path), max_queue=max_queue, flush_millis=999_999)
        assert [e.file_version for e in events(tmp_path)] == ["brain.Event:2"]
        counts = []
        with writer.as_default():
            for step in range(3):
                summary.write("tag", step, step=step)
                counts.append(len(events(tmp_path)))
    assert counts == seen


def test_a_closed_writer_is_not_used_again(tmp_path):
    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path))
        writer.close()
        for use in (writer.init, writer.set_as_default, lambda: writer.as_default().__enter__()):
            with pytest.raises(RuntimeError, match="already closed"):
                use()
        assert writer.close() is None and writer.flush() is None


def test_a_writer_of_eager_execution_needs_values(tmp_path):
    with tf.Graph().as_default():
        folder = tf.constant(str(tmp_path))
    with eager_mode(), pytest.raises(ValueError, match="Invalid graph Tensor argument"):
        summary.create_file_writer(folder)


def test_tags_may_hold_what_scopes_cannot():
    with tf.Graph().as_default(), summary.experimental.summary_scope("a?b") as (tag, scope):
        assert (tag, scope) == ("a?b", "ab/")
