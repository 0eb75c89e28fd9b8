"""custom_gradient, RegisterGradient, gradient_override_map, ops that stop gradients."""

import tensorflow as tf


def run(out):
    @tf.custom_gradient
    def clip(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    x = tf.Variable([1.0, 2.0], name="x")
    y = tf.reduce_sum(clip(x) * 3.0)
    g = tf.gradients(y, x)

    @tf.RegisterGradient("MyRelu")
    def _my(op, grad):
        return tf.where(grad > 0.0, grad, tf.zeros_like(grad)) * tf.cast(op.outputs[0] > 0.0, tf.float32)

    with tf.get_default_graph().gradient_override_map({"Relu": "MyRelu", "Identity": "MyRelu2"}):
        z = tf.nn.relu(x - 1.5)
    h = tf.gradients(z, x)
    out.raises("twice", lambda: tf.RegisterGradient("MyRelu")(_my))
    out.raises("nostr", lambda: tf.RegisterGradient(3))
    with tf.get_default_graph().gradient_override_map({"Exp": "Nope"}):
        q = tf.exp(x)
    out.raises("unregistered", lambda: tf.gradients(q, x))
    p = tf.py_func(lambda a: a * 2, [x], tf.float32)
    out("py", tf.gradients(p, x))
    out(
        "notdiff",
        [
            tf.gradients(tf.cast(tf.argmax(x), tf.float32), x),
            tf.gradients(tf.floor(x), x) == [None],
            tf.gradients(tf.sign(x), x)[0].op.type,
        ],
    )
    with tf.name_scope("s"):
        u = tf.stop_gradient(x) * x
        k = tf.gradients(u, x, colocate_gradients_with_ops=True)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out("v", s.run([g, h, k]))
    out.graph()
