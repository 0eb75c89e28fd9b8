"""Calls of traced functions in one form."""

import functools

import pytest

import everflow as tf
from everflow.ops.functions.argument_specs import FunctionSpec, validate_signature


def _spec(function, signature=None):
    return FunctionSpec.from_function_and_signature(function, signature)


def test_arguments_come_by_position_with_their_defaults():
    spec = _spec(lambda a, b=2, **rest: None)
    assert spec.canonicalize_function_inputs(1) == ((1, 2), {})
    assert spec.canonicalize_function_inputs(b=3, a=1, c=4) == ((1, 3), {"c": 4})
    assert spec.arg_names == ["a", "b"] and spec.flat_input_signature is None
    with pytest.raises(AssertionError, match="'a' is missing"):
        spec.canonicalize_function_inputs(b=1)


def test_what_a_partial_gives_is_no_argument():
    spec = _spec(functools.partial(lambda a, b, c=3: None, 1, c=5))
    assert spec.arg_names == ["b"]


def test_values_fit_a_signature():
    spec = _spec(lambda x: None, [tf.TensorSpec([None], tf.float32)])
    with tf.Graph().as_default():
        ((x,), given) = spec.canonicalize_function_inputs([1.0, 2.0])
        assert x.dtype == tf.float32 and x.shape.as_list() == [2] and not given
        with pytest.raises(ValueError, match="incompatible"):
            spec.canonicalize_function_inputs([[1.0]])
        with pytest.raises(TypeError, match="no place"):
            spec.canonicalize_function_inputs([1.0], 2)
    with pytest.raises(TypeError, match="no TensorSpec"):
        validate_signature([3])
