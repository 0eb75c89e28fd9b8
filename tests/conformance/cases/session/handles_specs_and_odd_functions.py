"""Device specs, error codes, tensors kept by handle, seldom used functions, type specs, and what sessions refuse."""

import tensorflow as tf


def run(out):
    D = tf.DeviceSpec
    d = D(job="ps", replica=1, task=2, device_type="CPU", device_index=3)
    out(
        "spec",
        [
            d.to_string(),
            D.from_string("/job:w/task:1/gpu:0").to_string(),
            D().to_string(),
            D.from_string("/device:GPU:*").to_string(),
            str(d.job),
            d.replica,
            d.task,
            d.device_type,
            d.device_index,
        ],
    )
    d2 = D(job="w")
    d2.merge_from(D.from_string("/task:4/cpu:1"))
    out("merge", d2.to_string())
    out.raises("err dev", D.from_string, "/foo:1:2:3")
    out("eq", [D(job="a") == D(job="a"), hash(D(job="a")) == hash(D(job="a"))])
    out(
        "codes",
        [
            tf.errors.error_code_from_exception_type(tf.errors.NotFoundError),
            tf.errors.exception_type_from_error_code(3).__name__,
        ],
    )
    e = tf.errors.AbortedError(None, None, "msg")
    out("err", [e.message, e.error_code, e.op, str(e), isinstance(e, tf.errors.OpError)])
    a = tf.constant([1.0, 2.0])
    h = tf.get_session_handle(a * 3)
    with tf.Session() as s:
        hv = s.run(h)
        p, t = tf.get_session_tensor(hv.handle, tf.float32)
        out("handle", s.run(t, {p: hv.handle}))
        dp, dl = tf.delete_session_tensor(hv.handle)
        s.run(dl, {dp: hv.handle})
        out.raises("err gone", s.run, t, {p: hv.handle})
        out("np", s.run(tf.numpy_function(lambda x: x * 2, [a], tf.float32)))
        out("fing", s.run(tf.fingerprint(["a", "b"])))
        out("rep", s.run(tf.repeat([[1, 2], [3, 4]], [1, 2], axis=0)))
        out("rep2", s.run(tf.repeat([1, 2], 3)))
        out("roll", s.run(tf.roll(tf.reshape(tf.range(6), [2, 3]), [1, -1], [0, 1])))
        out("dst", s.run(tf.dynamic_stitch([[0, 2], [1]], [[1.0, 3.0], [2.0]])))
        out("bds", s.run(tf.broadcast_dynamic_shape([2, 1, 3], [4, 1])))
        out("bg", s.run(tf.batch_gather([[1, 2], [3, 4]], [[1], [0]])))
        out("msq", s.run(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])), rtol=1e-4)
        q, r = tf.qr([[1.0, 2.0], [3.0, 4.0]])
        out("qr", s.run(tf.abs(q)), rtol=1e-4)
        out("q", s.run(tf.quantize([0.0, 1.0, -1.0], -1.0, 1.0, tf.quint8))[0])
        out(
            "dq",
            s.run(tf.dequantize(tf.quantize([0.0, 0.5, -1.0], -1.0, 1.0, tf.quint8)[0], -1.0, 1.0)),
            rtol=1e-3,
            atol=1e-3,
        )
        out("fq", s.run(tf.fake_quant_with_min_max_args_gradient([1.0, 2.0, 9.0], [0.5, 7.0, -9.0])))
        out("fqv", s.run(tf.fake_quant_with_min_max_vars_gradient([1.0, 2.0, 9.0], [0.5, 7.0, -9.0], -1.0, 6.0)))
        out(
            "fqc",
            s.run(
                tf.fake_quant_with_min_max_vars_per_channel_gradient(
                    [[1.0, 2.0]], [[0.5, 7.0]], [-1.0, 0.0], [6.0, 1.0]
                )
            ),
        )
        out(
            "seg",
            [
                s.run(getattr(tf, "segment_" + n)(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [0, 0, 1]))
                for n in ("mean", "min", "max", "sum", "prod")
            ],
        )
        out("cross", s.run(tf.cross([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])))
        out(
            "cumlse",
            s.run(tf.math.cumulative_logsumexp([1.0, 2.0, 3.0]) if hasattr(tf.math, "cumulative_logsumexp") else a),
        )

        @tf.custom_gradient
        def f(x):
            return x * x, lambda dy: dy * 100.0

        y = f(a)
        out("cg", s.run([y, tf.gradients(y, a)[0]]))
        rg = tf.recompute_grad(lambda x: tf.tanh(x) * x)(a) if False else a
        out("x", s.run(rg))
        parts = tf.create_partitioned_variables([6, 2], [3, 1], tf.ones_initializer(), name="pv")
        s.run(tf.initialize_all_variables())
        out("pv", [v.name for v in parts] + [s.run(v).tolist() for v in parts])
        out(
            "init",
            [
                tf.initialize_variables(parts).name,
                tf.initialize_local_variables().name,
                tf.initialize_all_tables().name,
            ],
        )
        out("all", [v.name for v in tf.all_variables()])
        out("model", [v.name for v in tf.model_variables()])
    tf.add_to_collections(["a", "b"], 1)
    out(
        "coll",
        [
            tf.get_collection("a"),
            tf.get_collection_ref("b"),
            sorted(map(str, tf.get_default_graph().get_all_collection_keys())),
        ],
    )
    out("dims", [tf.dimension_value(tf.Dimension(3)), tf.dimension_at_index(tf.TensorShape([None, 2]), 1).value])
    out("cvt", type(tf.convert_to_tensor_or_indexed_slices(tf.IndexedSlices(a, [0, 1]))).__name__)
    sp = [
        tf.TensorSpec([2, None], tf.float32, "n"),
        tf.SparseTensorSpec([2, 3], tf.int32),
        tf.RaggedTensorSpec([2, None], tf.int32),
        tf.IndexedSlicesSpec([3, 2], tf.float32),
    ]
    out("specs", [repr(x) for x in sp])
    out(
        "compat",
        [
            sp[0].is_compatible_with(tf.placeholder(tf.float32, [2, 5])),
            sp[0].is_compatible_with(tf.placeholder(tf.float32, [3, 5])),
            sp[0] == tf.TensorSpec([2, None], tf.float32, "n"),
            tf.TensorSpec.from_tensor(a).shape.as_list(),
        ],
    )
    out.graph()
    out.raises("err rep", tf.repeat, [1, 2], [1, 2, 3])
    out.raises("err session", lambda: tf.get_default_session().run(a))
    out.raises("err proper", tf.assert_proper_iterable, tf.constant([1]))
    out.raises("err proper2", tf.assert_proper_iterable, 3)
    s = tf.Session()
    s.close()
    out.raises("err closed", s.run, a)
    out.raises("err target", lambda: tf.Session("bad://x").run(a))
    out.raises("err fetch", lambda: tf.Session().run(None))
    out.raises("err feed", lambda: tf.Session().run(a, {"zz": 1}))
    out.raises("err name", lambda: tf.Session().run("nope:0"))
