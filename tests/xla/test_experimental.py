"""tf.xla: marks that travel with the graph, and what compiled functions give back."""

import pytest

import everflow as tf


def test_scopes_mark_nodes_and_their_gradients():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        with tf.contrib.compiler.jit.experimental_jit_scope():
            y = x * x
            with tf.xla.experimental.jit_scope(
                compile_ops=lambda node: node.op == "Neg", separate_compiled_gradients=True
            ):
                z = -y
                w = z + y
        assert y.op.get_attr("_XlaScope") == z.op.get_attr("_XlaScope") == b"jit_scope_0"
        assert [t.op.get_attr("_XlaCompile") for t in (y, z, w)] == [True, True, False]
        (grad,) = tf.gradients(y, x)
        assert any(
            "_XlaCompile" in op.node_def.attr
            for op in tf.get_default_graph().get_operations()
            if op.name.startswith("gradients")
        )
        with tf.Session() as sess:
            assert sess.run([w, grad], {x: 3.0}) == [0.0, 6.0]


def _loop(**settings):
    with tf.xla.experimental.jit_scope():
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y)), (0, tf.ones([2])), **settings)[1]


def test_loops_under_marks_save_to_stacks_of_a_known_size():
    with tf.Graph().as_default() as graph:
        tf.gradients(_loop(maximum_iterations=5), [graph.get_operation_by_name("ones").outputs[0]])
        (stack,) = (op for op in graph.get_operations() if op.type == "StackV2")
        with tf.Session() as session:
            assert session.run(stack.inputs[0]) == 5


def test_loops_under_marks_need_a_limit_for_gradients():
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="maximum_iterations was not passed"):
            tf.gradients(_loop(), [graph.get_operation_by_name("ones").outputs[0]])


def test_compile():
    with tf.Graph().as_default(), tf.Session() as sess:
        both = tf.xla.experimental.compile(lambda a, b: (a + b, a * b), [2.0, tf.constant(3.0)])
        assert sess.run(both) == [5.0, 6.0]
        assert sess.run(tf.xla.experimental.compile(lambda a: {"x": [a]}, [2.0])) == {"x": [2.0]}
        assert isinstance(tf.xla.experimental.compile(tf.no_op), tf.Operation)
        with pytest.raises(ValueError, match="followed by"):
            tf.xla.experimental.compile(lambda: (tf.no_op(), tf.constant(1.0)))


def _growth(x, rate):
    """A loop with a branch, and its gradient."""
    scale = tf.get_variable("scale", [3], initializer=tf.ones_initializer(), use_resource=True)
    grown = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, y: (i + 1, tf.cond(y[0] > 0.0, lambda: y * scale * rate, lambda: tf.exp(y))),
        (0, x),
        maximum_iterations=3,
    )[1]
    return grown, tf.gradients(grown, x)[0]


def test_loops_and_branches_in_a_cluster():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [3])
        results = tf.xla.experimental.compile(_growth, [x, 2.0])
        marks = {op.name: op.node_def.attr["_xla_compile_id"].s for op in graph.get_operations()}
        assert marks["while/Enter"] == marks["while/cond/Merge"] == marks["gradients/Add"] == b"cluster"
        assert marks["scale/Assign"] == marks["scale/Initializer/ones"] == b""  # an initializer runs before the cluster
        sess.run(tf.global_variables_initializer())
        grown, slope = sess.run(results, {x: [1.0, 2.0, 3.0]})
    assert grown.tolist() == [8.0, 16.0, 24.0] and slope.tolist() == [8.0, 8.0, 8.0]
