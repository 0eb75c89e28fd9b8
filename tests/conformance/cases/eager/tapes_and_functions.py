"""Eager: persistent tapes, jacobians, nested functions, custom gradients, variables in functions, retraces, control flow, errors."""

import numpy as np
import tensorflow as tf

EAGER = True


def run(out):
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(persistent=True) as t:
        y = v * v * 3.0
        z = tf.reduce_sum(y) ** 2
    out(
        "grads",
        [t.gradient(z, v).numpy(), t.gradient(y, v).numpy(), t.gradient(z, y).numpy(), t.jacobian(y, v).numpy()],
    )
    out("watched", [w.name for w in t.watched_variables()])
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.matmul(x, x) + tf.sin(x)
    out("bjac", t.batch_jacobian(y, x).numpy(), rtol=1e-5)
    out.raises("used twice", t.gradient, y, x)
    traces = []

    @tf.function
    def f(a, flag=True, *rest, **named):
        traces.append(1)
        if flag:
            a = a + 1
        for i in tf.range(3):
            if i > 1:
                a += tf.cast(i, a.dtype)
        while tf.reduce_sum(a) < 50:
            a *= 2
        return {"a": a, "n": len(rest), "k": sorted(named)}

    out(
        "f",
        [
            f(tf.constant([1.0, 2.0]))["a"].numpy(),
            f(tf.constant([3.0, 4.0]))["a"].numpy(),
            f(tf.constant([1, 2]), False)["a"].numpy(),
        ],
    )
    out("traces", len(traces))
    conc = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    out(
        "concrete",
        [
            conc(tf.constant([1.0, 2.0, 3.0]))["a"].numpy(),
            [i.name for i in conc.inputs],
            str(conc.structured_outputs["a"].shape),
            len(conc.captured_inputs),
        ],
    )

    @tf.custom_gradient
    def clipped(q):
        return q * 2.0, lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    class M(tf.Module):
        def __init__(self):
            super(M, self).__init__(name="m")
            self.w, self.made = tf.Variable(2.0, name="w"), None

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def __call__(self, q):
            if self.made is None:
                self.made = tf.Variable(3.0, name="made")
            return clipped(q) * self.w + self.made

    m = M()
    with tf.GradientTape() as t:
        loss = m(tf.constant(1.5))
    out(
        "module",
        [
            loss.numpy(),
            [g.numpy() for g in t.gradient(loss, m.trainable_variables)],
            [w.name for w in m.variables],
            [s.name for s in m.submodules],
        ],
    )
    out.raises("signature", m, tf.constant([1.0]))
    out.raises("creates", tf.function(lambda: tf.Variable(1.0)))
    out.raises("bool", bool, tf.constant([True, False]))
    out.raises("shape", tf.matmul, tf.ones([2, 3]), tf.ones([2, 3]))
    out.raises("dtype", lambda: tf.constant(1) + tf.constant(1.0))
    out.raises("index", lambda: tf.constant([1, 2])[5])
    out.raises("placeholder", tf.placeholder, tf.float32)
    out.raises("assign shape", v.assign, [1.0])
    out(
        "ops",
        [
            v.assign_add([1.0, 1.0]).numpy(),
            v.numpy(),
            (v + 1).numpy(),
            v[0].numpy(),
            float(tf.reduce_sum(v)),
            int(tf.constant(3)),
            [i.numpy() for i in tf.constant([1, 2])],
            len(tf.zeros([4, 2])),
            str(tf.constant("a")),
        ],
    )
    out(
        "tensor facts",
        [
            x.shape.as_list(),
            x.dtype.name,
            x.device[-5:],
            x.numpy(),
            np.asarray(x),
            x.ndim,
            hash(x) == hash(x),
            (x == x) if isinstance(x == x, bool) else "tensor",
        ],
    )
    p = tf.py_function(lambda a: a.numpy() * 2, [tf.constant(4.0)], tf.float32)
    out("py", [p.numpy()])
    out(
        "maps",
        [
            tf.map_fn(lambda e: e * 2, tf.constant([1, 2])).numpy(),
            tf.scan(lambda a, e: a + e, tf.constant([1, 2, 3])).numpy(),
            tf.cond(tf.constant(True), lambda: 1, lambda: 2),
            [
                r.numpy()
                for r in tf.while_loop(
                    lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [tf.constant(0), tf.constant(1.0)]
                )
            ],
        ],
    )
    opt = tf.train.AdamOptimizer(0.1)
    for _ in range(2):
        opt.minimize(lambda: tf.reduce_sum((v - 5.0) ** 2), var_list=[v])
    out("adam", [v.numpy(), sorted(w.name for w in opt.variables())], rtol=1e-5)
