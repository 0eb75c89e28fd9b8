"""Tracebacks: the program's frames first, ours in one line, and what to try."""

import pytest

import everflow as tf
from everflow.platform import tracebacks

pytestmark = pytest.mark.usefixtures("own_graph")


def lines_of(function):
    with pytest.raises(Exception) as caught:
        function()
    return tracebacks.lines(caught.value)


def add_wrongly():
    return tf.ones([3]) + tf.ones([4])


def test_our_frames_are_one_line(monkeypatch):
    monkeypatch.delenv("EVERFLOW_TRACEBACK", raising=False)
    lines = lines_of(add_wrongly)
    assert lines[0] == "Traceback (most recent call last):"
    assert f'  File "{__file__}"' in lines[-4] + lines[-3] + lines[-5] and "in add_wrongly" in "".join(lines)
    (folded,) = [line for line in lines if "frames of everflow; EVERFLOW_TRACEBACK=full shows them" in line]
    assert "inferred_shapes" in folded
    assert lines[-1].startswith("ValueError: Dimensions must be equal")


def test_a_switch_shows_all(monkeypatch):
    monkeypatch.setenv("EVERFLOW_TRACEBACK", "full")
    lines = lines_of(add_wrongly)
    assert len([line for line in lines if "/everflow/" in line]) > 3
    assert not [line for line in lines if "frames of everflow" in line]


def test_errors_that_errors_came_of_are_folded_too(monkeypatch):
    monkeypatch.delenv("EVERFLOW_TRACEBACK", raising=False)

    def chained():
        try:
            add_wrongly()
        except ValueError as e:
            raise RuntimeError("the model") from e

    lines = lines_of(chained)
    assert len([line for line in lines if "frames of everflow" in line]) == 1
    assert lines[-1] == "RuntimeError: the model"


@pytest.mark.parametrize(
    ("mistake", "hint"),
    [
        (lambda: tf.layers.dense(tf.ones([2, 3]), 4, activaton=tf.nn.relu), "Did you mean activation=? dense takes inputs,"),
        (lambda: tf.train.AdamOptimizer(lerning_rate=0.1), "Did you mean learning_rate=? AdamOptimizer takes learning_rate,"),
        (lambda: tf.reduce_sum(tf.ones([3]), qqqqq=1), "reduce_sum takes input_tensor, axis,"),
    ],
)  # fmt: skip
def test_arguments_that_were_meant(mistake, hint):
    assert lines_of(mistake)[-1].startswith(hint)


@pytest.mark.parametrize(
    ("mistake", "hint"),
    [
        (lambda: tf.Session().run(tf.get_variable("v", [2])), "Try: run tf.global_variables_initializer() before"),
        (lambda: tf.Session().run(tf.placeholder(tf.float32)), "Try: give it in sess.run(..., feed_dict="),
        (lambda: tf.Session(graph=tf.Graph()).run("x:0"), "Try: if the tensors are in another graph, give it"),
        (lambda: tf.train.Saver(), "Try: make the Saver after the variables"),
    ],
)
def test_what_to_try(mistake, hint):
    assert lines_of(mistake)[-1].startswith(hint)


def test_attributes_that_were_meant():
    assert "Did you mean: 'shuffle'?" in "".join(lines_of(lambda: tf.data.Dataset.range(3).suffle(2)))
    with pytest.raises(TypeError, match=r"^dense\(\) got an unexpected keyword argument 'activaton'"):
        tf.layers.dense(tf.ones([2, 3]), 4, activaton=tf.nn.relu)


def test_a_program_that_can_not_be_compiled_has_no_frames_of_ours():
    error = SyntaxError("invalid syntax", ("train.py", 2, 1, "print x\n"))
    assert tracebacks.lines(error)[0] == '  File "train.py", line 2'


def test_other_errors_have_no_hint():
    assert tracebacks.hints(TypeError("f() got an unexpected keyword argument 'x'")) == []
    assert tracebacks.hints(ValueError("no")) == []


def test_values_of_symbolic_tensors():
    x = tf.ones([3], name="x")
    with pytest.raises(
        AttributeError, match="x:0 has no attribute 'numpy': it has no value until it is run. Use sess.run"
    ):
        x.numpy()
    assert not hasattr(x, "numpy") and not hasattr(tf.Tensor, "numpy")
