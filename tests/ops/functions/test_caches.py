"""The traces of a function as programs look at them."""

import everflow as tf
from everflow.contrib.eager import defun
from everflow.ops.functions import caches


def test_traces_are_found_by_kinds_of_arguments_and_graph():
    with tf.Graph().as_default():
        double = defun(lambda x: x * 2.0)
        double(tf.constant(1.0))
        double(tf.constant([1.0, 2.0]))
        double(tf.constant(3.0))
        cache = double._function_cache
        assert isinstance(cache, caches.FunctionCache)
        assert len(cache.primary) == len({key.input_signature for key in cache.primary}) == 2
        assert cache.all_values() == set(cache.primary.values()) and not cache.arg_relaxed
