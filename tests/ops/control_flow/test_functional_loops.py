"""Loops as `While` ops: values and gradients."""

from __future__ import annotations

import resource

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("functional")


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_loops_and_nested_branches_are_differentiated():
    x = tf.placeholder(tf.float32, [])

    def body(i, t):
        return i + 1, tf.cond(i % 2 > 0, lambda: tf.sin(t) * x, lambda: t * t)

    _, y = tf.while_loop(lambda i, t: i < 3, body, [0, x])
    (dx,) = tf.gradients(y, x)
    v = 0.7
    a = v * v
    b, db = np.sin(a) * v, np.sin(a) + v * np.cos(a) * 2 * v
    np.testing.assert_allclose(run([y, dx], {x: v}), [b * b, 2 * b * db], rtol=1e-5)


def test_second_derivatives_of_a_loop():
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [0, 1.0])
    (dx,) = tf.gradients(y, x)
    (ddx,) = tf.gradients(dx, x)
    np.testing.assert_allclose(run([y, dx, ddx], {x: 2.0}), [8.0, 12.0, 12.0])


def test_arrays_in_loops():
    x = tf.placeholder(tf.float32, [2])
    array = tf.TensorArray(tf.float32, 3)
    _, array = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) * x)), [0, array]
    )
    stacked = array.stack()
    np.testing.assert_allclose(
        run([stacked[2], tf.gradients(stacked, x)[0]], {x: [1.0, 2.0]}), [[2.0, 4.0], [3.0, 3.0]]
    )


def test_a_traced_function_with_a_loop():
    w = tf.Variable(2.0, use_resource=True)

    @tf.function
    def power(x):
        return tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * w), [0, x])[1]

    x = tf.constant(1.5)
    y = power(x)
    assert run([y] + tf.gradients(y, [x, w])) == [12.0, 8.0, 18.0]


def test_shapes():
    x = tf.placeholder(tf.float32, [2])
    grown = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.concat([a, a[-1:] + 1.0], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )[1]
    assert grown.shape.as_list() == [None]
    assert run(grown, {x: [0.0, 1.0]}).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="shape_invariants"):
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, x])


@pytest.mark.parametrize("switch", [tf.enable_control_flow_v2, tf.disable_control_flow_v2])
def test_a_long_loop_without_back_propagation_keeps_nothing(switch):
    switch()
    x = tf.placeholder(tf.float32, [1000])
    last = tf.while_loop(lambda i, a: i < 20000, lambda i, a: (i + 1, a + x), [0, tf.zeros([1000])], back_prop=False)
    with tf.Session() as session:
        session.run(last, {x: np.zeros(1000)})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        i, a = session.run(last, {x: np.ones(1000)})
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert i == 20000 and (a == 20000).all()
    assert after - before < 20000  # kilobytes; all values together are four times that


@pytest.mark.parametrize("switch", [tf.enable_control_flow_v2, tf.disable_control_flow_v2])
def test_a_failing_op_in_a_loop_is_told_with_the_users_line(switch):
    switch()
    x = tf.placeholder(tf.float32, [None])
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    loop = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, tf.reshape(a, [i + 2])), [0, x], shapes, name="growing"
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as failure:
        session.run(loop, {x: [1.0, 2.0]})
    assert "test_functional_loops.py" in str(failure.value) and 'name="growing"' in str(failure.value)


def test_a_condition_is_one_bool():
    x = tf.placeholder(tf.float32, [2])
    for drawn in (
        tf.cond(tf.constant(2), lambda: x, lambda: -x),
        tf.while_loop(lambda v: v < 3.0, lambda v: v + 1.0, [x]),
        tf.while_loop(lambda i: i, lambda i: i - 1, [2]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="single bool"):
            run(drawn, {x: [1.0, 2.0]})
    with pytest.raises(TypeError, match="enters the loop with type"):
        tf.while_loop(lambda v: True, lambda v: tf.cast(v, tf.int32), [x])


def _accumulators():
    graph = tf.get_default_graph()
    return {op.name.split("/", 2)[2]: op for op in graph.get_operations() if op.type == "EmptyTensorList"}


def test_what_a_gradient_keeps_of_a_loop_is_named_and_shaped_as_in_tensorflow():
    x = tf.placeholder(tf.float32, [None, 3])
    n = tf.shape(x)[0]
    w = tf.get_variable("w", [3], use_resource=True)
    _, y = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, tf.identity(t * w) * x[i]), [0, w + 0.0])
    tf.gradients(y, x)
    kept = _accumulators()
    # What the condition takes from outside has its name in the body first, and an Identity is not kept beside its input.
    assert "strided_slice_1_0/accumulator" in kept and not any("Identity" in name for name in kept)
    shapes = {name: op.inputs[0].op.name.rpartition("/")[2] for name, op in kept.items()}
    assert shapes["strided_slice_1_0/accumulator"] == "element_shape"
    assert tf.get_static_value(kept["mul/ReadVariableOp_0/accumulator"].inputs[0]) == -1


def test_a_further_gradient_takes_what_is_kept_already():
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * t * x), [0, x])
    (dx,) = tf.gradients(y, x)
    first = set(_accumulators())
    (ddx,) = tf.gradients(dx, x)
    later = {name for name in set(_accumulators()) - first if not name.startswith("gradients")}
    assert not [name for name in later if "while_grad_grad" not in name]
    np.testing.assert_allclose(run([dx, ddx], {x: 1.1}), [15 * 1.1**14, 210 * 1.1**13], rtol=1e-5)


def test_a_loop_may_have_no_variables_and_specs_for_shapes():
    assert tf.while_loop(lambda: False, lambda: [], []) == []
    grown = tf.while_loop(
        lambda i, x: i < 2,
        lambda i, x: (i + 1, tf.concat([x, x], 0)),
        (0, tf.constant([1.0])),
        shape_invariants=(tf.TensorShape([]), tf.TensorSpec([None], tf.float32)),
    )[1]
    assert grown.shape.as_list() == [None] and run(grown).tolist() == [1, 1, 1, 1]


def test_shapes_that_a_body_captures_are_known_in_it():
    sizes = tf.constant([2, 3])
    last = tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, tf.random_uniform(sizes)), (0, tf.zeros([2, 3])))[1]
    assert last.shape == [2, 3]


def test_a_loop_that_is_differentiated_says_how_many_outputs_it_has():
    x = tf.placeholder(tf.float32, [None])
    (dx,) = tf.gradients(tf.foldl(lambda a, e: a, x), x)
    loop = next(op for op in tf.get_default_graph().get_operations() if op.name.endswith("foldl/while_grad"))
    assert "_num_original_outputs" not in loop.node_def.attr
    tf.gradients(dx, x)
    assert loop.get_attr("_num_original_outputs") == len(loop.outputs)


def test_tapes_go_back_through_arrays_that_loops_read():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        squares = tf.map_fn(lambda v: v * v, x)
        products = tf.scan(lambda a, v: a * v, x)
    assert run(tape.gradient(squares, x)).tolist() == [2.0, 4.0, 6.0]
    assert run(tape.gradient(products, x)).tolist() == [9.0, 4.0, 2.0]


@pytest.mark.parametrize(
    "condition, body",
    [
        (lambda i: [i < 3, i < 2], lambda i: i + 1),
        (lambda i: None, lambda i: i + 1),
        (lambda i: i < 3, lambda i: None),
    ],
)
def test_one_condition_and_a_value_for_each_variable(condition, body):
    with pytest.raises(AssertionError):
        tf.while_loop(condition, body, [0])


def test_the_limit_of_rounds_is_an_int32():
    with pytest.raises(TypeError):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=2.5)
    with pytest.raises(ValueError):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=tf.constant(2, tf.int64))


def test_a_differentiated_loop_has_the_shapes_that_an_iteration_gives():
    x = tf.placeholder(tf.float32, [None])
    y = tf.while_loop(lambda i, t: i < 1, lambda i, t: (i + 1, tf.sin(x) - (tf.constant([1.0, 2.0]) - t)), [0, x])[1]
    loop = y.op.inputs[0].op
    assert tf.TensorShape(loop.get_attr("output_shapes")[3]).as_list() == [None]
    tf.gradients(y * y, x)
    assert tf.TensorShape(loop.get_attr("output_shapes")[3]).as_list() == [2] and y.shape.as_list() == [None]
