"""`everflow profile input`, as a user runs it."""

import subprocess
import sys

SCRIPT = """
import sys
import tensorflow as tf
dataset = tf.data.Dataset.range(100).map(lambda x: x * 2).batch(10)
following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
with tf.Session() as sess:
    for _ in range(10):
        print(sess.run(following).sum(), sys.argv[1])
"""


def test_a_programs_pipelines_are_reported_when_it_is_over(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "everflow", "profile", "input", "train.py", "--steps=3"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "90 --steps=3"
    assert "pipeline 1: 10 elements" in done.stderr and "map(<lambda>)" in done.stderr
    assert "many at a time, 10 on average" in done.stderr and "→" in done.stderr


def test_what_is_not_there_is_said(tmp_path):
    command = [sys.executable, "-m", "everflow", "profile", "weather", "train.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "weather" in done.stderr
