"""assert_* and tf.debugging: decided while building, when run, and refused."""
import numpy as np
import tensorflow as tf


def run(out):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    n = tf.placeholder(tf.int32, [None], name="n")
    free = tf.placeholder(tf.float32, name="free")
    checks = [
        ("equal", tf.assert_equal(n, [1, 2]), {n: [1, 2]}, {n: [1, 3]}),
        ("less", tf.assert_less(x, 5.0, message="too big"), {x: [[1, 2]]}, {x: [[1, 9]]}),
        ("positive", tf.assert_positive(x), {x: [[1, 2]]}, {x: [[0, 9]]}),
        ("non negative", tf.debugging.assert_non_negative(n), {n: [0]}, {n: [-1]}),
        ("near", tf.debugging.assert_near(x, [[1.0, 2.0]], rtol=0.1), {x: [[1.05, 2]]}, {x: [[1.5, 2]]}),
        ("rank", tf.assert_rank(free, 2), {free: [[1.0]]}, {free: [1.0]}),
        ("rank at least", tf.assert_rank_at_least(free, 1), {free: [1.0]}, {free: 1.0}),
        ("rank in", tf.debugging.assert_rank_in(free, [0, 1]), {free: 1.0}, {free: [[1.0]]}),
        ("finite", tf.debugging.assert_all_finite(x, "inf!"), {x: [[1, 2]]}, {x: [[np.inf, 2]]}),
        ("none equal", tf.debugging.assert_none_equal(n, 3), {n: [1]}, {n: [3]}),
    ]
    with tf.Session() as sess:
        for name, op, good, bad in checks:
            out("passes " + name, sess.run(op, good))
            out.raises("fails " + name, sess.run, op, bad)
        with tf.control_dependencies([tf.assert_greater(x, 0.0)]):
            y = tf.identity(x) * 2.0
        out("guarded", sess.run(y, {x: [[1, 2]]}))
        out.raises("guarded fails", sess.run, y, {x: [[-1, 2]]})
        out.raises("assert", sess.run, tf.Assert(tf.reduce_all(x > 0), [x, "bad"], summarize=2), {x: [[-1, 2]]})
    out("types", [type(op).__name__ for _, op, _, _ in checks])
    out("numeric", [tf.debugging.is_numeric_tensor(t) for t in (x, n, tf.constant("a"), tf.constant(True), 3)])
    out("same", tf.debugging.assert_same_float_dtype([x, free]).name)
    out.graph()
    out.raises("static equal", tf.assert_equal, [1, 2], [1, 3])
    out.raises("static rank", tf.assert_rank, x, 3)
    out.raises("type", tf.assert_type, x, tf.int32)
    out.raises("integer", tf.assert_integer, x)
    out.raises("scalar", tf.assert_scalar, x)
    out.raises("iterable", tf.debugging.assert_proper_iterable, x)
    out.raises("shapes", tf.debugging.assert_shapes, {x: ("a", 3)})
    out.raises("mixed", tf.assert_less, x, n)
