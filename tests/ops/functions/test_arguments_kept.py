"""What traces keep of the arguments they were made for, and what a function may return."""

import gc
import weakref

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.functions.traced import UnliftedFunction, defun


class _Thing:
    pass


@pytest.mark.parametrize("make", [tf.function, defun])
def test_objects_live_no_longer_for_a_trace(make):
    with eager_mode():
        f = make(lambda thing: tf.constant(1))
        thing = _Thing()
        f(thing)
        gone = weakref.ref(thing)
        del thing
        gc.collect()
        assert gone() is None
        assert type(next(iter(f._function_cache.all_values())).structured_input_signature[0][0]).__name__ == (
            "UnknownArgument"
        )


def test_a_type_is_no_number():
    traced = []
    with eager_mode():
        f = tf.function(lambda x: traced.append(x) or tf.constant(1))
        f(tf.float32)
        f(1)
        f(tf.float32)
    assert traced == [tf.float32, 1] and traced[1] is not tf.float32


@pytest.mark.parametrize("make", [tf.function, defun])
@pytest.mark.parametrize("result", [lambda op: op, lambda op: [op, 1]])
def test_operations_are_no_results(make, result):
    with eager_mode(), pytest.raises(TypeError):
        make(lambda: result(tf.no_op()))()
    with tf.Graph().as_default(), pytest.raises(TypeError):
        make(lambda: result(tf.no_op()))()


def test_keys_of_traces():
    with eager_mode():
        f = UnliftedFunction(lambda x: x)
        keys = [f._cache_key((tf.constant(value),), {}) for value in (1, 2, 3.0)]
        f(tf.constant(4))
        assert keys[0] == keys[1] != keys[2] and keys[0] in f._function_cache.primary
