"""FileWriter: when its file comes into being, and that nothing is lost."""

import subprocess
import sys

import pytest

import everflow as tf


def test_a_file_comes_with_the_first_event(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.flush()
    assert list(tmp_path.iterdir()) == []
    writer.add_summary(tf.Summary(), 1)
    writer.flush()
    (made,) = tmp_path.iterdir()
    writer.close()
    writer.reopen()
    writer.close()
    assert list(tmp_path.iterdir()) == [made]


def test_a_writer_that_is_never_closed_loses_nothing(tmp_path):
    program = (
        "import sys, everflow as tf\n"
        "w = tf.summary.FileWriter(sys.argv[1])\n"
        "for i in range(9): w.add_summary(tf.Summary(value=[tf.Summary.Value(tag='x', simple_value=i)]), i)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    (made,) = tmp_path.iterdir()
    assert [event.step for event in tf.train.summary_iterator(str(made)) if event.summary.value] == list(range(9))


def test_a_writer_of_a_session_shares_its_file_with_summary_ops(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        writer = tf.summary.FileWriter(str(tmp_path), session=sess)
        other = tf.summary.FileWriter(str(tmp_path), session=sess)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=1.0)]), 1)
        other.add_summary(tf.Summary(value=[tf.Summary.Value(tag="y", simple_value=2.0)]), 2)
        other.close()
    (made,) = tmp_path.iterdir()
    assert [event.step for event in tf.train.summary_iterator(str(made)) if event.summary.value] == [1, 2]


def test_summary_ops_stay_in_their_scope(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.create_global_step()
        writer = tf.contrib.summary.create_file_writer(str(tmp_path))
        with writer.as_default(), tf.contrib.summary.record_summaries_every_n_global_steps(1), tf.name_scope("outer"):
            tf.contrib.summary.scalar("loss", 1.0)
        sess.run([tf.global_variables_initializer(), tf.contrib.summary.summary_writer_initializer_op()])
        sess.run([step, tf.contrib.summary.all_summary_ops()])
        sess.run(writer.close())
    (made,) = tmp_path.iterdir()
    assert [v.tag for event in tf.train.summary_iterator(str(made)) for v in event.summary.value] == ["outer/loss"]


def test_a_closed_writer_warns(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(tf.Summary(), 1)
