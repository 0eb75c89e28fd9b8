"""Control flow of version 2: conds, whiles, cases, TensorLists and TensorArrays in them, gradients of both, second derivatives, side effects."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import list_ops


def run(out):
    tf.enable_control_flow_v2()
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.get_variable(
        "w", [3, 3], initializer=tf.constant_initializer(np.arange(9).reshape(3, 3) / 10.0), use_resource=True
    )
    n = tf.placeholder(tf.int32, [], name="n")
    c = tf.cond(tf.reduce_sum(x) > 0.0, lambda: (x * 2.0, tf.constant(1)), lambda: (tf.exp(x), n), name="pick")
    loop = tf.while_loop(
        lambda i, h: i < n,
        lambda i, h: (i + 1, tf.tanh(tf.squeeze(tf.matmul(h[None], w), 0))),
        [0, x],
        name="rnn",
        maximum_iterations=10,
    )
    ta = tf.TensorArray(tf.float32, n, element_shape=[3])
    _, ta = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, x * tf.cast(i, tf.float32))), [0, ta])
    stacked = ta.stack()
    lst = list_ops.empty_tensor_list(element_shape=[3], element_dtype=tf.float32)
    _, lst = tf.while_loop(
        lambda i, l: i < 3,
        lambda i, l: (i + 1, list_ops.tensor_list_push_back(l, x ** tf.cast(i, tf.float32))),
        [0, lst],
    )
    lstack = list_ops.tensor_list_stack(lst, tf.float32)
    mapped = tf.map_fn(lambda e: tf.cond(e > 0.5, lambda: e * e, lambda: -e), x)
    scanned = tf.scan(lambda a, e: a * 0.5 + e, x)
    nested = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 1.5 + x[0]), [0, a])[1]),
        [0, tf.reduce_sum(x)],
    )[1]
    switch = tf.switch_case(n, [lambda: x, lambda: x * 3.0, lambda: x - 1.0])
    count = tf.get_variable("count", [], tf.int32, initializer=tf.zeros_initializer(), use_resource=True)
    with tf.control_dependencies([tf.cond(n > 1, lambda: count.assign_add(1), lambda: count.assign_sub(1))]):
        counted = count.read_value()
    loss = (
        tf.reduce_sum(c[0])
        + tf.reduce_sum(loop[1])
        + tf.reduce_sum(stacked)
        + tf.reduce_sum(lstack)
        + tf.reduce_sum(mapped)
        + tf.reduce_sum(scanned)
        + nested
        + tf.reduce_sum(switch)
    )
    grads = tf.gradients(loss, [x, w])
    out(
        "ops",
        sorted(
            {
                o.type
                for o in tf.get_default_graph().get_operations()
                if o.type
                in (
                    "If",
                    "While",
                    "StatelessIf",
                    "StatelessWhile",
                    "Case",
                    "Switch",
                    "Enter",
                    "TensorListReserve",
                    "TensorListStack",
                    "EmptyTensorList",
                )
            }
        ),
    )
    out(
        "static",
        [
            t.shape.as_list() if t.shape.ndims is not None else None
            for t in (c[0], loop[1], stacked, lstack, mapped, scanned, nested, switch)
        ],
    )
    out.raises("lengths", tf.cond, n > 0, lambda: (x, x), lambda: x)
    out.raises("dtypes", tf.cond, n > 0, lambda: 1, lambda: 1.0)
    out.raises("invariant", tf.while_loop, lambda a: tf.reduce_sum(a) < 3, lambda a: tf.concat([a, a], 0), [x])
    out.raises("structure", tf.while_loop, lambda a: True, lambda a: (a, a), [x])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for turn, feed in enumerate([{x: [0.1, 0.7, -0.3], n: 2}, {x: [-1.0, 0.2, 0.3], n: 1}]):
            out(
                "values %d" % turn,
                sess.run([c, loop, stacked, lstack, mapped, scanned, nested, switch, grads, counted], feed),
                rtol=1e-4,
                atol=1e-5,
            )
    out.graph()
    tf.disable_control_flow_v2()
