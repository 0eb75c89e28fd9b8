"""tf.xla: marks that travel with the graph, and what compiled functions give back."""

import pytest

import everflow as tf


def test_scopes_mark_nodes_and_their_gradients():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        with tf.contrib.compiler.jit.experimental_jit_scope():
            y = x * x
            with tf.xla.experimental.jit_scope(compile_ops=lambda node: node.op == "Neg", separate_compiled_gradients=True):
                z = -y
                w = z + y
        assert y.op.get_attr("_XlaScope") == z.op.get_attr("_XlaScope") == b"jit_scope_0"
        assert [t.op.get_attr("_XlaCompile") for t in (y, z, w)] == [True, True, False]
        (grad,) = tf.gradients(y, x)
        assert any("_XlaCompile" in op.node_def.attr for op in tf.get_default_graph().get_operations() if op.name.startswith("gradients"))
        with tf.Session() as sess:
            assert sess.run([w, grad], {x: 3.0}) == [0.0, 6.0]


def test_compile():
    with tf.Graph().as_default(), tf.Session() as sess:
        both = tf.xla.experimental.compile(lambda a, b: (a + b, a * b), [2.0, tf.constant(3.0)])
        assert sess.run(both) == [5.0, 6.0]
        assert sess.run(tf.xla.experimental.compile(lambda a: {"x": [a]}, [2.0])) == {"x": [2.0]}
        assert isinstance(tf.xla.experimental.compile(tf.no_op), tf.Operation)
        with pytest.raises(ValueError, match="followed by"):
            tf.xla.experimental.compile(lambda: (tf.no_op(), tf.constant(1.0)))
