"""Several optimizers on one small model: clipped gradients, decayed rates, moving averages, gates, names."""

import numpy as np
import tensorflow as tf


def run(out):
    with tf.variable_scope("m"):
        x = tf.constant(np.arange(6.0).reshape(2, 3), tf.float32)
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(0.5))
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer(), use_resource=True)
        h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))
        loss = tf.reduce_mean(tf.square(h - 1.0))
    gs = tf.train.create_global_step()
    lr = tf.train.exponential_decay(0.1, gs, 2, 0.5, staircase=True)
    opt = tf.train.MomentumOptimizer(lr, 0.9, use_nesterov=True)
    gv = opt.compute_gradients(loss)
    gv = [(tf.clip_by_norm(g, 0.5), v) for g, v in gv]
    tr = opt.apply_gradients(gv, global_step=gs)
    ema = tf.train.ExponentialMovingAverage(0.9, gs)
    with tf.control_dependencies([tr]):
        tr2 = ema.apply(tf.trainable_variables())
    a2 = tf.train.AdamOptimizer(0.01, name="A2").minimize(
        loss, colocate_gradients_with_ops=True, gate_gradients=tf.train.Optimizer.GATE_GRAPH
    )
    a3 = tf.train.RMSPropOptimizer(0.01, centered=True, momentum=0.5).minimize(loss, gate_gradients=0, aggregation_method=2)
    with tf.name_scope("opt"):
        a4 = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01).minimize(loss, var_list=[w], name="named")
    a5 = tf.train.AdadeltaOptimizer(1.0).minimize(loss, grad_loss=tf.constant(2.0))
    out("names", [o.name for o in (tr, tr2, a2, a3, a4, a5)])
    out("vars", [v.name for v in tf.global_variables()])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i, t in enumerate([tr2, tr2, tr2, a2, a3, a4, a5]):
            s.run(t)
            out("s%d" % i, s.run([w, b, gs, lr]), rtol=1e-4)
        out("ema", s.run([ema.average(w), ema.average(b)]), rtol=1e-4)
    out.graph()
