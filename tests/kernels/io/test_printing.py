"""What Assert and Print show of a tensor, where it goes, and how often."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.io.printing import summary


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        ([1, 2, 3, 4], 3, "1 2 3..."),
        ([[1, 2], [3, 4]], 3, "[1 2][3...]..."),
        ([[1, 2], [3, 4]], -1, "[1 2][3 4]"),
        ([[[1], [2]]], 9, "[[1][2]]"),
        ([True, False], 2, "1 0"),
        ([], 3, ""),
        (7, 3, "7"),
        ([1.5, 0.1, 1e-9, 123456789.0], -1, "1.5 0.1 1e-09 123456792"),
    ],
)
def test_a_tensor_in_short(value, limit, shown):
    array = np.asarray(value, np.float32 if isinstance(value, list) and value and isinstance(value[0], float) else None)
    found = summary(torch.from_numpy(array), tf.as_dtype(array.dtype), limit)
    assert found == shown


def test_words_in_short():
    words = np.array([b"a", "\u00e9".encode(), b"\xff"], object)
    assert summary(words, tf.string, 2) == "a \u00e9..."


def test_failed_assertions_show_their_data(sess):
    check = tf.Assert(tf.placeholder_with_default(False, []), ["sizes:", [1, 2, 3, 4], [0.5]], summarize=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[sizes:\] \[1 2\.\.\.\] \[0\.5\]"):
        sess.run(check)
    many = tf.Assert(tf.placeholder_with_default([True], None), [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be a scalar"):
        sess.run(many)


def test_the_first_runs_are_printed(sess, capfd):
    x = tf.Print(tf.constant([1, 2]), [tf.constant([[1, 2], [3, 4]]), tf.constant("word")], "seen: ", first_n=2)
    for _ in range(4):
        assert sess.run(x).tolist() == [1, 2]
    assert capfd.readouterr().err == "seen: [[1 2][3...]...][word]\n" * 2


@pytest.mark.parametrize("stream", ["stdout", "stderr", "log(info)", "log(error)"])
def test_streams(sess, capfd, stream):
    sess.run(tf.raw_ops.PrintV2(input="what", output_stream=stream, end="!\n"))
    out, err = capfd.readouterr()
    assert (out if stream == "stdout" else err).endswith("what!\n") and (err if stream == "stdout" else out) == ""


def test_a_file_is_added_to(sess, tmp_path):
    path = tmp_path / "log.txt"
    line = tf.print("n:", tf.constant([1, 2]), output_stream=f"file://{path}")
    sess.run(line)
    sess.run(line)
    assert path.read_text() == "n: [1 2]\n" * 2


def test_time_goes_on(sess):
    now = tf.timestamp()
    assert sess.run(now) <= sess.run(now)
