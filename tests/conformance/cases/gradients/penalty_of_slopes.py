"""A critic with a penalty on its slopes: gradients of gradients through convolution, pooling and activations."""

import numpy as np
import tensorflow as tf


def run(out):
    R = np.random.RandomState(0)
    x = tf.constant(R.rand(2, 8, 8, 3), tf.float32)

    def critic(x, reuse=None):
        with tf.variable_scope("D", reuse=reuse):
            w = tf.get_variable("w", initializer=R.rand(3, 3, 3, 4).astype("f") * 0.1)
            b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
            h = tf.nn.leaky_relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), b))
            h = tf.nn.avg_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
            h = tf.reshape(h, [-1, 16])
            v = tf.get_variable("v", initializer=R.rand(16, 1).astype("f") * 0.1)
            return tf.tanh(tf.matmul(h, v))

    d = critic(x)
    g = tf.gradients(d, [x])[0]
    slopes = tf.sqrt(tf.reduce_sum(tf.square(g), axis=[1, 2, 3]) + 1e-8)
    gp = tf.reduce_mean((slopes - 1.0) ** 2)
    loss = tf.reduce_mean(d) + 10.0 * gp
    tr = tf.train.AdamOptimizer(1e-3, beta1=0.5, beta2=0.9).minimize(loss, var_list=tf.trainable_variables("D"))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out("l", s.run([loss, gp]), rtol=1e-4)
        for _ in range(3):
            s.run(tr)
        out("w", s.run(tf.trainable_variables()), rtol=1e-3)
        out("l2", s.run(loss), rtol=1e-3)
    out.graph()
