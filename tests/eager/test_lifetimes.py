"""What an eager program no longer holds is gone: traced functions, their graphs, and what was compiled for them."""

import gc
import weakref

import numpy as np
import pytest

import everflow as tf


def _doubling():
    return tf.function(lambda x: x * 2.0)


def _with_a_loop():
    return tf.function(lambda x: tf.while_loop(lambda y: tf.reduce_sum(y) < 10.0, lambda y: [y * 2.0], [x]))


def _with_lists():
    return tf.function(lambda x: tf.map_fn(lambda y: y * 2.0, x))


@pytest.mark.parametrize("make", [_doubling, _with_a_loop, _with_lists])
def test_a_function_that_nobody_holds_is_gone_with_its_graph(eager, make):
    function = make()
    function(tf.ones([2]))
    graph = weakref.ref(function.get_concrete_function(tf.TensorSpec([2], tf.float32)).graph)
    del function
    gc.collect()
    assert graph() is None


def test_so_is_what_its_derivative_took(eager):
    v = tf.Variable(3.0, use_resource=True)
    function = tf.function(lambda x: x * v)
    with tf.GradientTape() as tape:
        y = function(tf.ones([2]))
    graph = weakref.ref(function.get_concrete_function(tf.TensorSpec([2], tf.float32)).graph)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), 2.0)
    del function, tape, y
    gc.collect()
    assert graph() is None


def test_a_trace_lives_without_the_function_it_is_of(eager):
    trace = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    gc.collect()
    assert trace(tf.constant(2.0)).numpy() == 3.0


def test_a_dataset_keeps_its_functions(eager):
    iterator = iter(tf.data.Dataset.range(3).map(lambda x: x * 2).filter(lambda x: x > 0))
    gc.collect()
    assert [x.numpy() for x in iterator] == [2, 4]


def test_functions_of_two_imports_may_share_names(eager):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.function(lambda x: x * 2.0)(x)
    definition = graph.as_graph_def()
    name = definition.node[-1].name

    def imported():
        return tf.import_graph_def(definition, name="")

    first, second = (tf.wrap_function(imported, []).prune("x:0", f"{name}:0") for _ in range(2))
    del first
    gc.collect()
    assert second(tf.constant(4.0)).numpy() == 8.0
