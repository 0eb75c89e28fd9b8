"""Variables under devices, colocation, containers, control dependencies and name scopes: nodes and where they are put."""

import tensorflow as tf


def run(out):
    with tf.device("/cpu:0"):
        a = tf.Variable([1.0, 2.0], name="a")
        b = tf.Variable(lambda: tf.ones([2]), name="b")
        c = tf.get_variable("c", [2], initializer=tf.ones_initializer(), use_resource=True)
        d = tf.get_variable("d", [2], initializer=tf.ones_initializer())
    with tf.device("/job:ps/task:1"):
        e = tf.Variable(tf.zeros([3]), name="e", caching_device="/job:worker")
        f = tf.get_variable("f", initializer=[1.0], use_resource=True, caching_device="/job:worker")
    y = e + 1.0
    z = f * 2.0
    out("dev", [v.device for v in (a, b, c, d, e, f)])
    out("y", [y.op.inputs[0].name, z.op.inputs[0].name])
    with tf.colocate_with(a):
        g = tf.Variable(1.0, name="g")
        h = tf.get_variable("h", [2], use_resource=True, initializer=tf.zeros_initializer())
        h2 = tf.Variable(lambda: 1.0, name="h2")
    with tf.container("cc"):
        k = tf.Variable(1.0, name="k")
        l = tf.Variable(1.0, name="l", use_resource=True)
    with tf.control_dependencies([y]):
        m = tf.Variable(1.0, name="m")
        n = tf.Variable(lambda: tf.constant(2.0) * 3.0, name="n", use_resource=True)
        o = m + n
    with tf.name_scope("ns"):
        p = tf.Variable(1.0, name="p")
        q = tf.get_variable("q", [1])
        r = tf.Variable(1.0, use_resource=True)
        with tf.name_scope(p.op.name):
            s = tf.Variable(1.0, name="s")
    out("names", [v.name for v in tf.global_variables()])
    out.graph()
