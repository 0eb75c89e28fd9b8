"""tf.case, switch_case, cond's corners: one element, dicts, exclusive cases, refs, None, nested loops of conds."""

import numpy as np
import tensorflow as tf


def run(out):
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.constant([1.0, 2.0], name="y")
    one = tf.cond(x > 1.0, lambda: [tf.reduce_sum(y)], lambda: [tf.constant(0.0)])
    strict = tf.cond(x > 1.0, lambda: [tf.reduce_sum(y)], lambda: [tf.constant(0.0)], strict=True)
    out("strict", [type(one).__name__, type(strict).__name__])
    case = tf.case([(x < 0.0, lambda: y), (x > 2.0, lambda: y * 2.0)], default=lambda: -y, name="pick")
    excl = tf.case({x < 0.0: lambda: tf.constant(1), x >= 0.0: lambda: tf.constant(2)}, exclusive=True)
    nodefault = tf.case([(x < 0.0, lambda: y), (x > 0.0, lambda: y * 3.0)])
    switch = tf.switch_case(
        tf.cast(x, tf.int32), {0: lambda: y, 1: lambda: y + 1.0, 2: lambda: y + 3.0}, default=lambda: y * 0.0
    )
    out.raises("none and value", tf.cond, x > 0.0, lambda: None, lambda: y)
    out.raises("lengths", tf.cond, x > 0.0, lambda: (y, y), lambda: y)
    out.raises("dtypes", tf.cond, x > 0.0, lambda: tf.constant(1), lambda: tf.constant(1.0))
    out.raises("dict keys", tf.cond, x > 0.0, lambda: {"a": y}, lambda: {"b": y})
    out.raises("python bool", tf.cond, True, lambda: y, lambda: y * 2.0)
    out.raises("no callable", tf.cond, x > 0.0, y, y)
    out.raises("bad pred", tf.case, [(1.0, lambda: y)])
    out.raises("not pairs", tf.case, [x > 0.0])
    out.raises("default", tf.case, [(x > 0.0, lambda: y)], default=y)
    out.raises("gap", tf.switch_case, tf.cast(x, tf.int32), {0: lambda: y, 2: lambda: y})
    out.raises("branch index", tf.switch_case, x, {0: lambda: y})
    v = tf.Variable(1.0, name="v", use_resource=False)
    ref = tf.cond(x > 0.0, lambda: tf.assign_add(v, 1.0), lambda: tf.assign_sub(v, 1.0))

    def body(i, acc):
        acc = tf.cond(
            tf.equal(i % 2, 0),
            lambda: acc + tf.reduce_sum(y),
            lambda: tf.while_loop(lambda j, a: j < i, lambda j, a: (j + 1, a * 1.5), [0, acc])[1],
        )
        return i + 1, acc

    loop = tf.while_loop(lambda i, a: i < 5, body, [0, x], parallel_iterations=2, swap_memory=True, name="outer")
    grad = tf.gradients(loop[1], [x, y])
    group = tf.cond(x > 0.0, lambda: tf.group(tf.assign(v, 10.0)), lambda: tf.no_op())
    tensors = [one, strict, case, switch, loop, grad]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in (0.0, 1.0, 3.0, -1.0):
            out("at %g" % value, sess.run(tensors, {x: value}))
            out("exclusive %g" % value, sess.run(excl, {x: value}))
        out("ref", [sess.run(ref, {x: 1.0}), sess.run(ref, {x: -1.0})])
        out("group", [sess.run(group, {x: 1.0}), sess.run(v)])
        out("nodefault", sess.run(nodefault, {x: -2.0}))
        out.raises("none true", sess.run, nodefault, {x: 0.0})
    out("static", [t.shape.as_list() for t in (case, switch, nodefault, loop[1])])
    out.graph()
