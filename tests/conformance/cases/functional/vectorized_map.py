"""tf.vectorized_map, pfor, for_loop and Jacobians: graphs node for node, and values."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.parallel_for import control_flow_ops as parallel
from tensorflow.python.ops.parallel_for import gradients

BODIES = [
    lambda a: a * a + tf.constant([1.0, 2.0]),
    lambda a: tf.matmul(a[:, None], a[None]) - 1.0,
    lambda a: tf.matmul(tf.ones([3, 2]), a[:, None]),
    lambda a: tf.reduce_max(tf.concat([a, tf.zeros([1])], 0), axis=-1, keepdims=True),
    lambda a: tf.where(tf.reduce_sum(a) > 2.0, a, -a),
    lambda a: tf.gather(a, [1, 0, 1]),
    lambda a: tf.transpose(tf.reshape(tf.tile(a, [3]), [3, 2])),
    lambda a: tf.gradients(tf.nn.relu(a[0] * a[1]), a)[0],
    lambda a: {"same": tf.constant(1), "norm": tf.norm(a), "slices": tf.split(a, 2)},
]


def run(out):
    rows = tf.placeholder(tf.float32, [None, 2], name="rows")
    known = tf.constant(np.arange(6.0).reshape(3, 2), tf.float32)
    made = [tf.vectorized_map(body, given) for body in BODIES for given in (rows, known)]
    made.append(parallel.pfor(lambda i: i * 2, 5, parallel_iterations=2))
    made.append(parallel.for_loop(lambda i: (i, [i + 1]), (tf.int32, [tf.int32]), 3))
    y = tf.square(tf.matmul(rows, tf.constant([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])))
    made.append(gradients.jacobian(y, [rows]))
    made.append(gradients.batch_jacobian(y, rows))
    made.append(gradients.batch_jacobian(y, rows, use_pfor=False))
    out.graph()
    with tf.Session() as sess:
        out("values", sess.run(made, {rows: [[0.5, 1.0], [2.0, 3.0], [-1.0, 4.0]]}))
    out.raises("one at a time", parallel.pfor, lambda i: i, 4, 1)
