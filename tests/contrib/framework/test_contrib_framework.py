"""tf.contrib.framework: arg_scope, variables of models, restoring, shapes."""

import numpy as np
import pytest

import everflow as tf

F = tf.contrib.framework


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@F.add_arg_scope
def described(x, a=1, b=2):
    return x, a, b


def test_arg_scope_gives_defaults_that_calls_override():
    with F.arg_scope([described], a=10), F.arg_scope([described], b=20):
        assert described(0) == (0, 10, 20)
        assert described(0, a=5) == (0, 5, 20)
    assert described(0) == (0, 1, 2)
    assert F.arg_scoped_arguments(described) == ("a", "b")


def test_arg_scope_can_be_entered_again():
    with F.arg_scope([described], a=10) as scope:
        pass
    with F.arg_scope(scope):
        assert described(0) == (0, 10, 2)


def test_arg_scope_ends_with_an_exception():
    with pytest.raises(KeyError), F.arg_scope([described], a=10):
        raise KeyError
    assert F.current_arg_scope() == {}


@pytest.mark.parametrize(
    ("given", "kwargs", "error"),
    [([len], {"a": 1}, ValueError), (described, {"a": 1}, TypeError), ({}, {"a": 1}, ValueError)],
)
def test_arg_scope_refuses(given, kwargs, error):
    with pytest.raises(error), F.arg_scope(given, **kwargs):
        pass


def names(variables):
    return [v.op.name for v in variables]


def test_variables_by_scope_suffix_and_collection():
    with tf.variable_scope("a"):
        F.model_variable("weights", [2])
        F.variable("biases", [2], collections=["mine"])
    with tf.variable_scope("b"):
        F.model_variable("weights", [2], device="/cpu:0")
    local = F.local_variable(1, name="local")
    assert names(F.get_variables("a")) == ["a/weights"]
    assert names(F.get_model_variables()) == ["a/weights", "b/weights"]
    assert names(F.get_variables_by_suffix("weights", "b")) == ["b/weights"]
    assert names(F.get_variables_to_restore(exclude=["a"])) == ["b/weights"]
    assert names(F.filter_variables(tf.global_variables(), exclude_patterns=["^a"])) == ["b/weights"]
    assert F.get_local_variables() == [local]
    assert names(tf.get_collection("mine")) == ["a/biases"]
    assert F.get_unique_variable("b/weights").device == "/device:CPU:0"
    with pytest.raises(ValueError, match="Couldn't find"):
        F.get_unique_variable("nothing")


def test_device_chooser_takes_turns():
    chooser = F.VariableDeviceChooser(num_tasks=2)
    with F.arg_scope([F.variable], device=chooser):
        devices = [F.variable(name, [1]).device for name in "abc"]
    assert [d.split("task:")[1][0] for d in devices] == ["0", "1", "0"]


def test_values_and_checkpoints_are_assigned(tmp_path):
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    w = tf.get_variable("w", [4], initializer=tf.zeros_initializer())
    op, feed = F.assign_from_values({"v": [1.0, 2.0], "w": [1.0, 2.0, 3.0, 4.0]})
    with tf.Session() as sess:
        sess.run(op, feed)
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
        sess.run(tf.global_variables_initializer())
        other = tf.get_variable("other", [2, 2], initializer=tf.zeros_initializer())
        op, feed = F.assign_from_checkpoint(path, {"v": v, "w": other})
        sess.run(op, feed)
        assert sess.run(v).tolist() == [1.0, 2.0]
        assert sess.run(other).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        F.assign_from_checkpoint_fn(path, {"w": w, "missing": v}, ignore_missing_vars=True)(sess)
        assert sess.run(w).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert F.list_variables(path) == [("v", [2]), ("w", [4])]
    with pytest.raises(ValueError, match="missing variable"):
        F.assign_from_checkpoint(path, {"nothing": v})


def test_shapes_are_checked_when_building_and_when_run():
    x = tf.placeholder(tf.float32, [None, 2])
    y = F.with_shape([3, 2], x)
    assert y.shape.as_list() == [3, 2]
    with tf.Session() as sess:
        assert sess.run(y, {x: np.ones((3, 2))}).shape == (3, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            sess.run(y, {x: np.ones((2, 2))})
    with pytest.raises(ValueError, match="Invalid shape"):
        F.with_shape([2], tf.ones([3]))


def test_python_functions_take_and_give_structures():
    result = F.py_func(lambda a, b: {"sum": a + b}, [tf.constant(1.0)], {"b": 2.0}, {"sum": tf.float32}, {"sum": ()})
    assert result["sum"].shape == []
    with tf.Session() as sess:
        assert sess.run(result) == {"sum": 3.0}


def test_names_with_and_without_scopes():
    assert F.prepend_name_scope("^x", "s") == "^s/x"
    assert F.strip_name_scope("loc:@s/x", "s") == "loc:@x"
    with tf.name_scope("a"):
        assert F.get_name_scope() == "a"


def test_reduce_sum_n():
    with tf.Session() as sess:
        assert sess.run(F.reduce_sum_n([tf.ones([2, 3]), tf.constant(2.0)])) == 8.0
