"""Ops about the process itself."""

import subprocess
import sys

import pytest

import everflow as tf

ABORT = """
import everflow as tf
with tf.Session() as session:
    session.run(tf.raw_ops.Abort(error_msg="enough", exit_without_error=%s))
print("still here")
"""


def test_a_fact():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.user_ops.my_fact()) == b"0! == 1"


@pytest.mark.parametrize("quietly", [True, False])
def test_the_end_of_the_process(quietly):
    done = subprocess.run([sys.executable, "-c", ABORT % quietly], capture_output=True, text=True)
    assert (done.returncode == 0) == quietly
    assert "still here" not in done.stdout and "enough" in done.stderr
