"""Every unary function with first and second derivative; half and complex numbers."""
import numpy as np
import tensorflow as tf


def run(out):
    x = tf.placeholder(tf.float32, [3], name="x")
    names = ["abs", "acos", "asin", "atan", "asinh", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "square",
             "reciprocal", "sigmoid", "erf", "erfc", "lgamma", "digamma", "negative", "sign", "floor", "ceil", "rint", "round", "log_sigmoid", "softplus", "softsign"]
    data = [0.1, 0.5, 0.9]
    made = []
    for n in names:
        y = getattr(tf.math, n)(x)
        g = tf.gradients(y, x)[0]
        g2 = None
        if g is not None and n != "softsign":
            g2 = tf.gradients(g, x)[0]
        made.append((n, y, g, g2))
    with tf.Session() as sess:
        for n, y, g, g2 in made:
            out(n, sess.run([t for t in (y, g, g2) if t is not None], {x: data}), rtol=2e-4, atol=1e-5)
            out(n + " kinds", [g is None, g2 is None])
        half = tf.constant([0.5, 1.0], tf.float16)
        out("half", sess.run([getattr(tf.math, n)(half) for n in ("exp", "log", "tanh", "sigmoid", "sqrt", "erf")]), rtol=1e-2)
        z = tf.constant([1 + 1j, -0.5j], tf.complex128)
        out("complex", sess.run([getattr(tf.math, n)(z) for n in ("exp", "log", "tanh", "sigmoid", "sqrt", "sin", "cos", "square", "reciprocal", "rsqrt", "tan", "sinh", "cosh", "asinh", "acosh", "atanh", "log1p")]), rtol=1e-6)
        gz = [tf.gradients(tf.math.real(getattr(tf.math, n)(z)), z)[0] for n in ("exp", "log", "tanh", "sigmoid", "sqrt", "sin", "cos", "square", "reciprocal", "rsqrt", "tan", "sinh", "cosh", "asinh", "log1p")]
        out("complex gradients", sess.run(gz), rtol=1e-6)
    out.graph()
    for n in ("exp", "sin", "lgamma", "erf", "floor"):
        out.raises(n + " of ints", getattr(tf.math, n), tf.constant([1]))
        out.raises(n + " of bools", getattr(tf.math, n), tf.constant([True]))
        out.raises(n + " of strings", getattr(tf.math, n), tf.constant(["a"]))
    out.raises("exp of None", tf.exp, None)
