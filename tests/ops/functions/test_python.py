"""Python functions as ops: what they are given and give, and the graphs that they belong to."""

import gc
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf

KINDS = pytest.mark.parametrize("kind", [tf.py_func, tf.py_function, tf.numpy_function])


def _called_by(kind, calls):
    def function(x):
        calls.append(1)
        return np.float32(2.0) * x

    return kind(function, [tf.constant(3.0)], tf.float32, name="called")


def _tokens(graph):
    return [node.attr["token"].s for node in graph.as_graph_def().node if "token" in node.attr]


@KINDS
def test_a_copy_of_the_graph_calls_its_function(kind):
    calls = []
    with tf.Graph().as_default() as graph:
        _called_by(kind, calls)
    copy = tf.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(copy, return_elements=["called:0"])
        assert session.run(y) == 6.0
    assert calls


@KINDS
def test_a_graph_from_another_process_calls_nothing_here(kind, tmp_path):
    path = tmp_path / "graph.pb"
    program = f"""
import numpy as np
import everflow as tf
tf.{kind.__name__}(lambda x: x, [tf.constant(3.0)], tf.float32, name="called")
open({str(path)!r}, "wb").write(tf.get_default_graph().as_graph_def().SerializeToString())
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    calls = []
    with tf.Graph().as_default():
        _called_by(kind, calls)
        with tf.Graph().as_default(), tf.Session() as session:
            (y,) = tf.import_graph_def(tf.GraphDef.FromString(path.read_bytes()), return_elements=["called:0"])
            with pytest.raises(tf.errors.NotFoundError, match="not in this process"):
                session.run(y)
    assert not calls


@KINDS
@pytest.mark.parametrize("guess", [b"pyfunc_0", b"pyfunc_1", b"", b"pyfunc_0_"])
def test_tokens_are_not_guessed(kind, guess):
    calls = []
    with tf.Graph().as_default() as graph:
        _called_by(kind, calls)
    definition = graph.as_graph_def()
    for node in definition.node:
        if "token" in node.attr:
            node.attr["token"].s = guess
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(definition, return_elements=["called:0"])
        with pytest.raises(tf.errors.NotFoundError):
            session.run(y)
    assert not calls


def test_no_two_functions_have_one_token():
    with tf.Graph().as_default() as first:
        _called_by(tf.py_func, [])
        _called_by(tf.py_function, [])
    with tf.Graph().as_default() as second:
        _called_by(tf.py_func, [])
    tokens = _tokens(first) + _tokens(second)
    assert len(tokens) == len(set(tokens)) == 3


def test_a_function_goes_with_its_graph():
    with tf.Graph().as_default() as graph:
        _called_by(tf.py_function, [])
        definition = graph.as_graph_def()
    del graph
    gc.collect()
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(definition, return_elements=["called:0"])
        with pytest.raises(tf.errors.NotFoundError):
            session.run(y)


def test_generators_of_datasets_belong_to_their_graph():
    with tf.Graph().as_default() as graph:
        dataset = tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int64)
        element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        definition = graph.as_graph_def()
        with tf.Session() as session:
            assert [session.run(element) for _ in range(2)] == [1, 2]
    with tf.Graph().as_default(), tf.Session() as session:
        (copied,) = tf.import_graph_def(definition, return_elements=[element.name])
        assert [session.run(copied) for _ in range(2)] == [1, 2]
    for function in definition.library.function:
        for node in function.node_def:
            if "token" in node.attr:
                node.attr["token"].s = b"pyfunc_0"
    with tf.Graph().as_default(), tf.Session() as session:
        (foreign,) = tf.import_graph_def(definition, return_elements=[element.name])
        with pytest.raises(tf.errors.NotFoundError):
            session.run(foreign)


def test_a_gradient_goes_through_a_py_function_of_a_copy():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.py_function(lambda x: x * x, [x], tf.float32, name="square")
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.import_graph_def(graph.as_graph_def(), return_elements=["x:0", "square:0"])
        y.set_shape([])
        assert session.run(tf.gradients(y, x), {x: 3.0}) == [6.0]


@pytest.mark.parametrize(
    ("function", "types", "expected"),
    [
        (lambda x: x + np.float32(1), tf.float32, 4.0),
        (lambda x: np.float64(x), tf.float64, 3.0),
        (lambda x: (x, int(x)), [tf.float32, tf.int64], [3.0, 3]),
        (lambda x: [x], [tf.float32], [3.0]),
        (lambda x: "text", tf.string, b"text"),
        (lambda x: None, [], None),
    ],
)
@pytest.mark.parametrize("stateful", [True, False])
def test_results_have_the_types_that_were_promised(sess, function, types, expected, stateful):
    made = tf.py_func(function, [tf.constant(3.0)], types, stateful=stateful)
    if expected is None:
        assert sess.run(made) in (None, [])
    else:
        assert sess.run(made) == expected


@pytest.mark.parametrize(
    ("function", "types", "error"),
    [
        (lambda x: x, tf.int32, tf.errors.InvalidArgumentError),
        (lambda x: (x, x), [tf.float32], tf.errors.InvalidArgumentError),
        (lambda x: 1 / 0, tf.float32, tf.errors.UnknownError),
        (lambda x: {}["a"], tf.float32, tf.errors.UnknownError),
        (lambda x: next(iter([])), tf.float32, tf.errors.OutOfRangeError),
        (lambda x: int("a"), tf.float32, tf.errors.InvalidArgumentError),
    ],
)
def test_what_a_function_raises(sess, function, types, error):
    with pytest.raises(error):
        sess.run(tf.py_func(function, [tf.constant(3.0)], types))


def test_functions_take_arrays_and_strings_as_bytes(sess):
    seen = []
    made = tf.py_func(lambda *a: seen.extend(a), [[1, 2], "text", ["a", "b"], 2.5], [])
    sess.run(made)
    assert seen[0].tolist() == [1, 2] and seen[1] == b"text" and seen[2].tolist() == [b"a", b"b"]
    assert seen[3].dtype == np.float32


def test_only_what_can_be_called_is_a_function():
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.py_func(3, [], tf.float32)
