"""Small inner names of optimizers, checkpoints and sessions."""

import os

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

from tensorflow.python.estimator.export import export  # isort: skip
from tensorflow.python.training import checkpoint_management, optimizer, session_manager  # isort: skip
from tensorflow.python.training import input as inputs  # isort: skip


def test_pairs_without_a_gradient_are_left_out():
    filtered = optimizer.get_filtered_grad_fn(lambda a, b=None: [(a, "x"), (b, "y")])
    assert filtered(3) == [(3, "x")] and filtered(3, b=4) == [(3, "x"), (4, "y")]


def test_keys_of_variables():
    with tf.Graph().as_default() as graph:
        assert optimizer._var_key(tf.Variable(1.0, name="q")) == (graph, "q")
    with eager_mode():
        one, other = tf.Variable(1.0, name="q"), tf.Variable(1.0, name="q")
        assert optimizer._var_key(one) == optimizer._var_key(one) != optimizer._var_key(other)


def test_names_in_messages_and_files():
    with tf.Graph().as_default():
        assert session_manager._maybe_name(tf.constant(1.0, name="a")) == "a:0"
    assert session_manager._maybe_name(None) == "None" and "int" in session_manager._maybe_name(3)
    assert checkpoint_management._GetCheckpointFilename("d", None) == os.path.join("d", "checkpoint")
    assert (export.SINGLE_FEATURE_DEFAULT_NAME, export.SINGLE_RECEIVER_DEFAULT_NAME) == ("feature", "input")


def test_numbers_of_features_are_constants_of_a_linear_model():
    with tf.Graph().as_default() as graph:
        tf.feature_column.linear_model({"a": [[1.0], [5.0]]}, [tf.feature_column.numeric_column("a")])
        assert [op.name for op in graph.get_operations()[:2]] == ["Const", "Const_1"]


def test_inputs_of_queues_taken_apart():
    assert inputs._as_tensor_list([1, 2]) == [1, 2] and inputs._as_tensor_list({"b": 1, "a": 2}) == [2, 1]
    assert inputs._as_original_type({"b": 0, "a": 0}, [3, 4]) == {"a": 3, "b": 4}
    assert inputs._as_original_type({"a": 0}, 3) == {"a": 3} and inputs._as_original_type([0], 3) == 3
    assert inputs._as_tensor_list_list([{"b": 1, "a": 2}, {"a": 3, "b": 4}]) == [[2, 1], [3, 4]]
    with pytest.raises(ValueError, match="same keys"):
        inputs._as_tensor_list_list([{"a": 1}, {"b": 1}])
    assert [inputs._which_queue(pads).__name__ for pads in (True, False)] == ["PaddingFIFOQueue", "FIFOQueue"]
