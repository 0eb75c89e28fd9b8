"""Small inner names of optimizers, checkpoints and sessions."""

import os

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

from tensorflow.python.estimator.export import export  # isort: skip
from tensorflow.python.training import checkpoint_management, optimizer, session_manager  # isort: skip


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
