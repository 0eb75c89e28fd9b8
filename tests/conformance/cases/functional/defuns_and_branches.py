"""Functions of the graph: Defuns with gradients of their own, While and If of functional_ops, For, remote calls; names."""

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops


def run(out):
    @function.Defun(tf.float32, tf.float32)
    def grad_of(x, dy):
        return dy * tf.cos(x) * 2.0

    @function.Defun(tf.float32, grad_func=grad_of)
    def sine(x):
        return tf.sin(x)

    @function.Defun(tf.float32, tf.float32, func_name="Named", out_names=["sum", "product"])
    def both(a, b):
        return a + b, a * b

    @function.Defun(tf.int32, tf.float32)
    def step(i, x):
        return i + 1, x * 1.5

    @function.Defun(tf.int32, tf.float32)
    def less(i, x):
        return i < 4

    @function.Defun(tf.float32)
    def double(x):
        return x * 2.0

    @function.Defun(tf.float32)
    def third(x):
        return x / 3.0

    x = tf.placeholder(tf.float32, [], name="x")
    y = sine(x)
    total, product = both(x, y, name="call")
    loop = functional_ops.While([tf.constant(0), x], less, step)
    branch = functional_ops.If(x > 1.0, [x], double, third)
    outer = tf.Variable(3.0, name="outer", use_resource=True)

    @function.Defun(tf.float32)
    def reads(z):
        return z * outer

    captured = reads(x)
    nested = function.Defun(tf.float32, func_name="nested")(lambda z: double(z) + third(z))(x)
    out(
        "names",
        [sine.name[:5], both.name, [t.name.split("/")[-1] for t in (total, product)], sorted(both.definition.ret)],
    )
    g = tf.gradients([y, branch[0], nested], x)
    out.raises("count", both, x)
    out.raises("kwargs", function.Defun(tf.float32), lambda **k: 1)
    out.raises("none", lambda: function.Defun(tf.float32)(lambda z: None).name)
    out.raises("types", lambda: double(tf.constant("a")))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in (0.5, 2.0):
            out("at %g" % v, sess.run([y, total, product, loop, branch, captured, nested, g], {x: v}))
    out(
        "library",
        sorted(f.signature.name.split("_")[0] for f in tf.get_default_graph().as_graph_def().library.function),
    )
    out.graph()
