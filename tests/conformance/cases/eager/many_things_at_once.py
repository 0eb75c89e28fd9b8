"""Operators, tapes, traced functions, datasets, Keras, checkpoints and errors when executing eagerly."""

import numpy as np
import tensorflow as tf

EAGER = True


def run(out):
    r = np.random.RandomState(0)
    x = tf.constant(r.rand(2, 3).astype(np.float32))
    im = tf.constant(r.rand(1, 6, 6, 3).astype(np.float32))
    out(
        "ops",
        [
            t.numpy()
            for t in (
                x + 1,
                x @ tf.transpose(x),
                tf.reduce_mean(x, 1),
                x[0, 1:],
                x[..., tf.newaxis],
                tf.concat([x, x], 0),
                tf.where(x > 0.5, x, -x),
                tf.one_hot([1, 2], 3),
                tf.cast(x * 10, tf.int32) % 3,
                -x,
                abs(x - 1),
                x**2,
                2 / x,
                x // 0.3,
            )
        ],
        rtol=1e-5,
    )
    out(
        "bools",
        [
            bool(tf.constant(True)),
            int(tf.constant(3)),
            float(tf.constant(2.5)),
            len(x),
            list(map(float, tf.constant([1.0, 2.0]))),
            [v.numpy().tolist() for v in x],
            x.shape.as_list(),
            x.dtype.name,
            x.ndim,
            repr(tf.constant([1, 2])),
            str(tf.constant(1.5)),
        ],
    )
    out(
        "img",
        [
            tf.image.resize_images(im, [3, 3]).numpy(),
            tf.nn.max_pool(im, [1, 2, 2, 1], [1, 2, 2, 1], "SAME").numpy(),
            tf.nn.conv2d(im, tf.ones([2, 2, 3, 1]), [1, 1, 1, 1], "VALID").numpy(),
        ],
        rtol=1e-4,
        atol=1e-5,
    )
    v = tf.Variable([1.0, 2.0])
    v.assign_add([1.0, 1.0])
    v.scatter_add(tf.IndexedSlices(tf.constant([5.0]), tf.constant([1]))) if hasattr(v, "scatter_add") else None
    out("var", [v.numpy(), v.name, v.trainable])
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer()) if False else tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as t:
        y = v * v * w
        z = tf.reduce_sum(tf.tanh(y))
        q = tf.reduce_sum(v**3)
    out("grads", [g.numpy() for g in t.gradient(z, [v, w])] + [t.gradient(q, v).numpy()], rtol=1e-4)
    out("none", t.gradient(q, w) is None)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            c = v**3
        d = t1.gradient(c, v)
    out("second", t2.gradient(d, v).numpy())
    with tf.GradientTape() as t:
        t.watch(x)
        j = x * x
    out("jac", t.jacobian(j, x).numpy() if False else 0)
    opt = tf.train.AdamOptimizer(0.1)
    for _ in range(3):
        with tf.GradientTape() as t:
            l = tf.reduce_sum((v - 5.0) ** 2)
        opt.apply_gradients([(t.gradient(l, v), v)])
    out("adam", v.numpy(), rtol=1e-4)

    @tf.function
    def f(n):
        s = tf.constant(0)
        for i in tf.range(n):
            if i % 2 == 0:
                s += i
            else:
                s -= 1
        return s

    out("fn", [f(tf.constant(6)).numpy(), f(tf.constant(3)).numpy()])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def g(a):
        return {"m": tf.reduce_max(a), "l": [a + 1, a * 2]}

    o = g([1.0, 4.0])
    out("sig", [o["m"].numpy(), o["l"][0].numpy(), o["l"][1].numpy()])
    out.raises("err sig", g, tf.constant([[1.0]]))
    out("conc", [i.shape.as_list() if i.shape.ndims is not None else None for i in g.get_concrete_function().inputs])
    ds = tf.data.Dataset.from_tensor_slices((np.arange(5), np.arange(5) * 2.0)).shuffle(3, seed=1).batch(2)
    out("ds", [[a.numpy(), b.numpy()] for a, b in ds], seeded=True)
    out("ds2", [e.numpy() for e in tf.data.Dataset.range(3).map(lambda i: i * i)])
    ta = tf.TensorArray(tf.float32, 3)
    ta = ta.write(0, 1.0).write(1, 2.0).write(2, 3.0)
    out("ta", ta.stack().numpy())
    out("wl", [t.numpy() for t in tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * 2), [0, 1])])
    out("cond", tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)).numpy())
    out("map", tf.map_fn(lambda e: e * 2, tf.constant([1.0, 2.0])).numpy())
    out("py", tf.py_function(lambda a: a * 3, [x], tf.float32).numpy())
    out("scan", tf.scan(lambda a, b: a + b, tf.constant([1.0, 2.0, 3.0])).numpy())
    tf.set_random_seed(3)
    out(
        "rand",
        [tf.random_normal([2]).numpy(), tf.random_uniform([2], seed=1).numpy(), tf.random.shuffle(tf.range(5)).numpy()],
        seeded=True,
        rtol=1e-4,
    )
    m = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(3, activation="relu", kernel_initializer="ones"),
            tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    m.compile(tf.train.GradientDescentOptimizer(0.01), "mse")
    h = m.fit(
        np.ones([8, 2], np.float32), np.ones([8, 1], np.float32), batch_size=4, epochs=2, verbose=0, shuffle=False
    )
    out("fit", h.history["loss"], rtol=1e-4)
    out("pred", m.predict(np.ones([2, 2], np.float32)), rtol=1e-4)
    ck = tf.train.Checkpoint(v=v, m=m)
    import tempfile

    p = ck.save(tempfile.mkdtemp() + "/c")
    v.assign([0.0, 0.0])
    ck.restore(p)
    out("restored", v.numpy(), rtol=1e-5)
    sp = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    out(
        "sparse",
        [
            tf.sparse.to_dense(sp).numpy(),
            tf.sparse.reduce_sum(sp).numpy() if hasattr(tf.sparse.reduce_sum(sp), "numpy") else 0,
        ],
    )
    rt = tf.ragged.constant([[1, 2], [3]])
    out("ragged", [rt.to_list(), tf.reduce_sum(rt, 1).numpy()])
    tb = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    out("table", tb.lookup(tf.constant(["b", "z"])).numpy())
    out("str", [tf.strings.join(["a", "b"], "-").numpy(), tf.strings.split(["a b"]).values.numpy()])
    out(
        "lin",
        [tf.linalg.det([[1.0, 2.0], [3.0, 4.0]]).numpy(), tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()],
        rtol=1e-4,
    )
    out.raises("err shape", lambda: x + tf.ones([5]))
    out.raises("err mm", tf.matmul, x, x)
    out.raises("err dtype", lambda: x + tf.constant(1))
    out.raises("err ph", tf.placeholder, tf.float32)
    out.raises("err idx", lambda: x[7])
    out.raises("err session", tf.gradients, x, x)
    out.raises("err item", lambda: float(x))
    out.raises("err gather", tf.gather, x, [9])
    out.raises("err bool", lambda: bool(x))
    out.raises("err assign", v.assign, [1.0, 2.0, 3.0])
    out.raises("err iter", lambda: iter(tf.constant(1)).__next__())
    out.raises("err nan", tf.debugging.assert_equal, 1, 2)
    out.raises("err cn", tf.check_numerics, tf.constant([np.nan]), "m")
    out.raises("err tape", lambda: t.gradient(l, v))
    out.raises("err opt", lambda: opt.minimize(l))
