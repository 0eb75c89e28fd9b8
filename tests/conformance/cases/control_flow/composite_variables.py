"""SparseTensors, IndexedSlices and ragged tensors through loops and branches, with and without shape invariants; gradients of branches in loops."""

import numpy as np
import tensorflow as tf

T = tf.TensorShape


def run(out):
    def shapes_inside(name, value, invariant):
        seen = []

        def body(i, v):
            seen.append([str(t.shape) for t in tf.nest.flatten(v, expand_composites=True)])
            return i + 1, v

        def build():
            tf.while_loop(lambda i, v: i < 2, body, [0, value], shape_invariants=[T([]), invariant])
            out(name + " inside", seen[0])

        out.raises(name, build)

    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 2])
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([0]), tf.constant([3, 2]))
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    for dims in ([2], [None], [3], [2, 2], None):
        shapes_inside("sparse %s" % dims, sparse, T(dims))
    for dims in ([1, 2], [None, 2], [None, None], [3, 2], [], None):
        shapes_inside("slices %s" % dims, slices, T(dims))
    for dims in ([2, None], [None, None], [None], None):
        shapes_inside("ragged %s" % dims, ragged, T(dims))

    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.float32, [3], name="x")
    r = tf.get_variable("r", initializer=np.float32([1.0, 2.0, 3.0]), use_resource=True)
    doubled = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v.with_values(v.values * 2.0)), [0, ragged])[1]
    chosen = tf.cond(p, lambda: ragged, lambda: ragged.with_values(ragged.values + 10.0))
    picked = tf.cond(p, lambda: tf.gather(r, [0, 0]), lambda: tf.gather(r, [2, 1]) * x[:2])
    d_picked = tf.convert_to_tensor(tf.gradients(picked, r)[0])
    hessian = tf.hessians(tf.cond(p, lambda: tf.reduce_sum(x**3), lambda: tf.reduce_sum(x**2)), x)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for flag in (True, False):
            values = sess.run([doubled, chosen, picked, d_picked, hessian], {p: flag, x: [1.0, 2.0, 3.0]})
            out("values %s" % flag, [v.to_list() for v in values[:2]] + values[2:])
    changes = tf.while_loop(lambda i: i < 5, lambda i: tf.cast(i, tf.float32) + 1.0, [0])
    out.raises("a variable that changes its type", tf.Session().run, changes)
    out.graph()
