"""The exceptions of TensorFlow: a class for each code."""

import pickle

import pytest

import everflow as tf
from everflow.framework import errors


@pytest.mark.parametrize("code", range(1, 17))
def test_codes_and_classes_belong_to_each_other(code):
    kind = tf.errors.exception_type_from_error_code(code)
    assert tf.errors.error_code_from_exception_type(kind) == code
    assert getattr(tf.errors, kind.__name__) is kind and issubclass(kind, tf.errors.OpError)
    raised = kind(None, None, "words")
    assert (raised.error_code, raised.message, raised.op, raised.node_def) == (code, "words", None, None)
    assert str(raised) == "words"
    constant = next(name for number, name, _, _ in errors._TABLE if number == code)
    assert getattr(tf.errors, constant) == code


def test_codes_and_classes_that_are_not_known():
    with pytest.raises(KeyError):
        tf.errors.exception_type_from_error_code(99)
    assert errors.error_code_from_exception_type(ValueError) == tf.errors.UNKNOWN
    assert tf.errors.UnknownError(None, None, "words", 77).error_code == 77
    plain = errors.of_code(99, None, None, "words")
    assert type(plain) is tf.errors.OpError and plain.error_code == 99
    assert type(errors.of_code(5, None, None, "words")) is tf.errors.NotFoundError


@pytest.mark.parametrize(
    "error", [tf.errors.AbortedError(None, None, "words"), tf.errors.OpError(None, None, "words", 42)]
)
def test_an_error_goes_to_another_process(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.error_code) == (type(error), error.message, error.error_code)


def test_an_error_of_an_op_tells_where_the_op_was_made_and_leaves_it_behind_when_it_travels():
    with tf.Graph().as_default():
        op = tf.no_op(name="n")
    error = tf.errors.InternalError(op.node_def, op, "words")
    assert str(error).startswith("words\n") and "'n'" in str(error) and __file__ in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert again.op is None and again.node_def.name == "n"


def test_kinds_of_python_errors():
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)
    assert issubclass(errors.InaccessibleTensorError, ValueError)
    with pytest.raises(tf.errors.AbortedError), tf.errors.raise_exception_on_not_ok_status():
        raise tf.errors.AbortedError(None, None, "words")
