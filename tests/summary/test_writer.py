"""FileWriter: when its file comes into being, and that nothing is lost."""

import subprocess
import sys

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
