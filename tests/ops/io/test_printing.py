"""`tf.print` and `tf.Print`: what is shown, where, and how much of it."""

import sys

import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: ["a", 1, tf.constant(2)], "a 1 2\n"),
        (lambda: [tf.constant("text")], "text\n"),
        (lambda: [tf.constant(["a", "b"])], '["a" "b"]\n'),
        (lambda: [tf.range(10)], "[0 1 2 ... 7 8 9]\n"),
        (lambda: [{"k": tf.constant(1), "l": [tf.constant(2.5), "s"]}], "{'k': 1, 'l': [2.5, 's']}\n"),
        (lambda: ["{}", tf.constant(1)], "{} 1\n"),
        (lambda: [tf.constant(True), None], "1 None\n"),
        (
            lambda: [tf.SparseTensor([[0, 1]], [5], [2, 2])],
            "'SparseTensor(indices=[[0 1]], values=[5], shape=[2 2])'\n",
        ),
        (lambda: [], "\n"),
    ],
)
def test_what_is_shown(sess, capfd, build, text):
    sess.run(tf.print(*build()))
    assert capfd.readouterr().err == text


def test_separators_ends_and_how_much(sess, capfd):
    sess.run(tf.print("a", "b", tf.range(10), sep="-", end="!", summarize=1))
    sess.run(tf.print(tf.range(10), summarize=-1, output_stream=sys.stdout))
    out, err = capfd.readouterr()
    assert err == "a-b-[0 ... 9]!" and out == "[0 1 2 3 4 5 6 7 8 9]\n"


def test_files_are_added_to(sess, tmp_path):
    for text in ("one", "two"):
        sess.run(tf.print(text, output_stream=f"file://{tmp_path}/log"))
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    "options", [{"output_stream": "nowhere"}, {"output_stream": object()}, {"flush": True}, {"output_stream": print}]
)
def test_streams_and_options_that_there_are_not(options):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.print("a", **options)


@pytest.mark.parametrize(
    ("stream", "name"),
    [
        (sys.stdout, b"stdout"),
        (sys.stderr, b"stderr"),
        (tf.logging.info, b"log(info)"),
        (tf.logging.warn, b"log(warning)"),
        (tf.logging.error, b"log(error)"),
    ],
)
def test_names_of_streams(stream, name):
    stream = {b"stdout": sys.stdout, b"stderr": sys.stderr}.get(name, stream)  # as they are while a test runs
    with tf.Graph().as_default():
        assert tf.print("a", output_stream=stream).get_attr("output_stream") == name


def test_a_tensor_passes_and_is_shown(sess, capfd):
    x = tf.placeholder(tf.float32, [2])
    shown = tf.Print(x, [x, tf.shape(x)], message="x: ", first_n=1, summarize=5)
    assert shown.shape.as_list() == [2]
    for _ in range(2):
        np.testing.assert_array_equal(sess.run(shown, {x: [1.0, 2.0]}), [1, 2])
    assert capfd.readouterr().err == "x: [1 2][2]\n"
    assert sess.run(tf.gradients(shown * 3.0, x)[0], {x: [1.0, 2.0]}).tolist() == [3, 3]


def test_the_time(sess):
    first, second = (sess.run(tf.timestamp()) for _ in range(2))
    assert isinstance(first, np.float64) and 1.5e9 < first <= second
    with tf.Graph().as_default():
        assert tf.timestamp().shape.as_list() == []
