"""`tf.TensorArray` in functions and under control flow v2: lists of tensors, with their gradients."""

import numpy as np
import pytest

import everflow as tf


def called(fn, *values):
    """What a function of the graph gives for these arguments, and the op types in its body."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        made = session.run(tf.function(fn, autograph=False)(*[tf.constant(v) for v in values]))
        types = {node.op for function in graph.as_graph_def().library.function for node in function.node_def}
    return made, types


def test_write_read_stack_gather_size():
    def body():
        array = tf.TensorArray(tf.float32, size=3).write(0, 1.0).write(1, 2.0).identity()
        assert array.handle is None and array.flow.dtype == tf.variant
        return array.stack(), array.read(1), array.size(), array.gather([1, 0])

    (stacked, second, size, some), types = called(body)
    np.testing.assert_array_equal(stacked, [1, 2, 0])
    assert (second, size) == (2, 3)
    np.testing.assert_array_equal(some, [2, 1])
    assert "TensorListSetItem" in types and not any(t.startswith("TensorArray") for t in types)


def test_unstack_scatter_split_concat():
    def body(x):
        array = tf.TensorArray(tf.float32, size=2)
        parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x[:, 0], [1, 2])
        return (
            array.unstack(x).read(2),
            tf.TensorArray(tf.float32, size=4).scatter([3, 0, 1], x).stack(),
            parts.read(1),
            parts.concat(),
        )

    made, _ = called(body, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for found, expected in zip(made, [[5, 6], [[3, 4], [5, 6], [0, 0], [1, 2]], [3, 5], [1, 3, 5]], strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dynamic", [False, True])
def test_loops(dynamic):
    def body(n):
        array = tf.TensorArray(tf.int32, size=0 if dynamic else n, dynamic_size=dynamic)
        _, array = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, i * i)), (0, array))
        return array.stack()

    np.testing.assert_array_equal(called(body, 4)[0], [0, 1, 4, 9])


def test_branches():
    def body(p):
        array = tf.TensorArray(tf.float32, size=2).write(0, 1.0)
        return tf.cond(p, lambda: array.write(1, 2.0), lambda: array.write(1, 3.0)).stack()

    np.testing.assert_array_equal(called(body, True)[0], [1, 2])
    np.testing.assert_array_equal(called(body, False)[0], [1, 3])


@pytest.mark.parametrize(
    "fn, expected",
    [
        (lambda x: tf.TensorArray(tf.float32, size=3).unstack(x).read(1) * 3.0, [0, 3, 0]),
        (lambda x: tf.TensorArray(tf.float32, size=2).write(0, x).write(1, 2 * x).stack(), [3, 3, 3]),
        (lambda x: tf.TensorArray(tf.float32, size=3).scatter([2, 0, 1], x).gather([1, 0]), [0, 1, 1]),
        (
            lambda x: tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2]).concat() * [1.0, 2.0, 3.0],
            [1, 2, 3],
        ),
        (lambda x: tf.map_fn(lambda a: a * a, x), [2, 4, 6]),
        (lambda x: tf.scan(lambda a, b: a * b, x), [9, 4, 2]),
        (lambda x: tf.foldl(lambda a, b: a * b, x), [6, 3, 2]),
    ],
)
def test_gradients(fn, expected):
    np.testing.assert_allclose(called(lambda x: tf.gradients(fn(x), x)[0], [1.0, 2.0, 3.0])[0], expected)


def test_what_a_list_cannot_do():
    with pytest.raises(NotImplementedError, match="has no grad"):
        called(lambda: tf.TensorArray(tf.float32, size=1).grad("source"))
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        called(lambda: tf.TensorArray(tf.float32, size=2).write(0, 1.0).write(1, [1.0, 2.0]).stack())


def test_control_flow_v2_draws_lists_in_the_graph_itself():
    tf.enable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph:
            tf.TensorArray(tf.float32, size=1).write(0, 1.0).stack()
            assert [op.type for op in graph.get_operations() if op.type != "Const"] == [
                "TensorListReserve", "TensorListSetItem", "TensorListStack"
            ]  # fmt: skip
    finally:
        tf.disable_control_flow_v2()


def test_a_plain_graph_keeps_its_arrays():
    with tf.Graph().as_default() as graph:
        tf.TensorArray(tf.float32, size=1).write(0, 1.0)
        assert "TensorArrayV3" in [op.type for op in graph.get_operations()]


def test_an_array_that_comes_out_of_a_loop_uses_up_a_name():
    tf.enable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph:
            tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a), (0, tf.TensorArray(tf.float32, 1)))
            tf.TensorArray(tf.float32, 1)
            names = [op.name for op in graph.get_operations() if op.type == "TensorListReserve"]
    finally:
        tf.disable_control_flow_v2()
    assert names == ["TensorArrayV2", "TensorArrayV2_2"]
