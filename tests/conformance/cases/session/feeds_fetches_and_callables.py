"""What sessions take: nested fetches of every kind, feeds of every kind, callables with options, partial runs, as_default, reset, errors' contents."""

import collections

import numpy as np
import tensorflow as tf


def run(out):
    a, b = tf.placeholder(tf.float32, [2], name="a"), tf.placeholder_with_default(tf.constant([1, 2]), [None], name="b")
    c = tf.add(a, tf.cast(b, tf.float32), name="c")
    sp, ix = (
        tf.sparse_placeholder(tf.int32, [2, 2], name="sp"),
        tf.IndexedSlices(c, tf.constant([0, 1]), tf.constant([4])),
    )
    r = tf.ragged.placeholder(tf.int32, 1, [], name="r")
    v = tf.Variable([1.0], name="v")
    rv = tf.get_variable("rv", [], use_resource=True, initializer=tf.constant_initializer(2.0))
    s = tf.constant([["x", "y"]], name="s")
    h = tf.get_session_handle(c)
    Point = collections.namedtuple("Point", "x y")

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        f = {a: [1, 2]}
        out(
            "plain",
            [sess.run(c, f), sess.run("c:0", f), sess.run(c.op, f), sess.run([], f), sess.run({}, f), sess.run((), f)],
        )
        out(
            "nested",
            sess.run({"p": Point(c, [b, (v, rv)]), "o": collections.OrderedDict([("z", s), ("y", c.op)]), "e": []}, f),
        )
        out(
            "kinds",
            [
                list(sess.run(ix, f)),
                list(sess.run(sp, {sp: tf.SparseTensorValue([[0, 1]], [5], [2, 2])})),
                list(sess.run(sp, {sp: ([[1, 1]], [6], [2, 2])})),
                sess.run(r, {r: tf.ragged.constant_value([[1], [2, 3]])}).to_list(),
            ],
        )
        out(
            "types",
            [
                type(x).__name__
                for x in (
                    sess.run(Point(c, b), f),
                    sess.run(sp, {sp: ([[1, 1]], [6], [2, 2])}),
                    sess.run((c, b), f),
                    sess.run([c], f),
                    sess.run(rv),
                    sess.run(s),
                )
            ],
        )
        out(
            "fed",
            [
                sess.run(c, {c: [9.0, 9.0]}),
                sess.run(c + 1, {"c:0": [3, 4]}),
                sess.run(c, {a: np.float64([1, 2]), b: [3]}),
                sess.run(v * 2, {v: [5.0]}),
                sess.run(tf.strings.join([s, s]), {s: [["q", b"w"]]}),
            ],
        )
        for name, args in {
            "dtype": (c, {a: ["x", "y"]}),
            "shape": (c, {a: [1, 2, 3]}),
            "unknown": (c, {"nothing:0": 1}),
            "not fed": (c,),
            "tensor fed": (c, {a: tf.constant([1.0, 2.0])}),
            "op fed": (c, {c.op: 1}),
            "none": (None,),
            "int": (3,),
            "no such": ("zz:0",),
            "bad name": ("c:7",),
            "list key": (c, {(a, b): [[1, 2]]}),
            "float for int": (b, {b: [1.5]}),
            "fetch none in list": ([c, None], f),
            "dict feed": (c, [a]),
        }.items():
            out.raises(name, sess.run, *args)
        call = sess.make_callable([c, {"b": b}], feed_list=[a, b])
        out("callable", call([1, 2], [5, 6]))
        out.raises("callable count", call, [1, 2])
        out.raises("callable feed", sess.make_callable(c), 1)
        opts = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        meta = tf.RunMetadata()
        sess.run(c, f, options=opts, run_metadata=meta)
        out(
            "trace",
            [
                len(meta.step_stats.dev_stats) > 0,
                "c" in [n.node_name for d in meta.step_stats.dev_stats for n in d.node_stats],
            ],
        )
        p = sess.partial_run_setup([c, tf.square(c, name="sq")], [a])
        out("partial", [sess.partial_run(p, c, f), sess.partial_run(p, "sq:0")])
        out.raises("partial twice", sess.partial_run, p, c, f)
        out.raises("partial bad", sess.partial_run, "nope", c)
        handle = sess.run(h, f)
        holder, data = tf.get_session_tensor(handle.handle, tf.float32)
        out("handle", [type(handle).__name__, handle.eval(), sess.run(data * 2, {holder: handle.handle})])
        handle.delete()
        out.raises("deleted", sess.run, data, {holder: handle.handle})
        out("with", [c.eval(f), c.eval({a: [0, 0]}, session=sess), v.eval(), tf.get_default_session() is sess])
        try:
            sess.run(tf.check_numerics(c / 0.0, "bad", name="chk"), f)
        except tf.errors.InvalidArgumentError as e:
            out("error", [e.op.name, e.error_code, e.node_def.op, type(e).__name__, "bad" in e.message])
        out("graph def", [sess.graph_def.versions.producer, sess.graph is tf.get_default_graph(), sess.sess_str == ""])
    out.raises("closed", sess.run, c, f)
    out.raises("no session", lambda: c.eval(f))
    other = tf.Graph()
    with tf.Session(graph=other) as sess2:
        out.raises("other graph", sess2.run, c, f)
        out.raises("empty graph", sess2.run, [])
    out.raises("config", tf.Session, config="x")
    out.raises("target", tf.Session, "no-such://x")
    out.graph()
