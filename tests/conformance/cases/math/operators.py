"""Python operators on tensors: reflected, ints, numpy, sparse, strings, and what they refuse."""
import numpy as np
import tensorflow as tf


def run(out):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
    n = tf.constant([7, -7, 3], name="n")
    with tf.Session() as sess:
        out("reflected", sess.run([2.0 + x, 2.0 - x, 2.0 * x, 2.0 / x, 2.0 // x, 2.0 % x, 2.0 ** x, [[1.0, 0.0], [0.0, 1.0]] @ x, x @ [[1.0], [2.0]]]), rtol=1e-5)
        out("ints", sess.run([n / 2, n // 2, n % 2, 7 / n, 7 // n, n ** 2, -n, abs(n), n + n, n * 3]))
        out("compare", sess.run([n > 3, n >= 3, 3 < n, n <= [1, 2, 3], n < 0]))
        out("bools", sess.run([(n > 0) & (n < 5), (n > 0) | (n < -5), (n > 0) ^ True, ~(n > 0)]))
        out("numpy", sess.run([np.float32(2) * x, np.array([1, 2], np.float32) + x, x - np.eye(2), np.ones(2, np.float32) / x]), rtol=1e-5)
        out("named", [tf.add(x, x, name="sum").name, tf.multiply(x, 2.0, name="twice").name, tf.divide(x, 2.0, name="half").name])
        out("old", sess.run([tf.div(n, 2), tf.div(x, 2.0), tf.floordiv(n, 2), tf.mod(n, 3), tf.truncatediv(n, 2), tf.truncatemod(n, 2), tf.floor_div(n, 4), tf.realdiv(x, 3.0)]), rtol=1e-5)
        s = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
        out("sparse", sess.run([s * x, s / x, x * s, s * 2.0]))
        out("strings", sess.run([tf.constant(["a"]) + "b", tf.add(["x"], ["y"])]))
    out("identity", [x == x, x != n, x is not n, x == 3])
    out("types", [t.op.type for t in (x + x, x / 2.0, n / 2, n // 2, x @ x, -x)])
    out("dtypes", [t.dtype.name for t in (n / 2, tf.constant([1], tf.int8) / tf.constant([2], tf.int8), tf.constant([1], tf.uint16) / tf.constant([2], tf.uint16))])
    out.graph()
    out.raises("string times", lambda: tf.constant("a") * 2)
    out.raises("mixed", lambda: x + n)
    out.raises("float to ints", lambda: n + 0.5)
    out.raises("ints divided by float", lambda: n / 0.5)
    out.raises("bool plus", lambda: tf.constant(True) + tf.constant(False))
    out.raises("and of ints", lambda: n & n)
    out.raises("none", lambda: x + None)
    out.raises("shapes", lambda: x + tf.ones([3]))
    out.raises("matmul of vectors", lambda: tf.ones([2]) @ tf.ones([2]))
    out.raises("truth", lambda: bool(x > 0))
    out.raises("chained comparison", lambda: 0 < n < 5)
    out.raises("in", lambda: 1.0 in x)
    out.raises("iter", lambda: list(x))
