"""tf.contrib.summary in graphs: every kind, recording, scopes and families, steps, writers that are missing or closed."""
import glob
import numpy as np
import tensorflow as tf


def attempt(out, label, fn):
    try:
        with tf.Graph().as_default():
            value = fn()
    except Exception as e:
        value = type(e).__name__
    out(label, value)


def events(d):
    r = []
    for f in sorted(glob.glob(d + "/*")):
        for e in tf.train.summary_iterator(f):
            for v in e.summary.value:
                k = v.WhichOneof("value")
                x = v.simple_value if k == "simple_value" else [v.tensor.dtype, [d.size for d in v.tensor.tensor_shape.dim], bytes(v.tensor.tensor_content)] if k == "tensor" else None
                r.append([e.WhichOneof("what"), e.step, v.tag, k, x, v.metadata.plugin_data.plugin_name, v.metadata.display_name])
            if not e.summary.value:
                r.append([e.WhichOneof("what"), e.step])
    return r


def run(out):
    s = tf.contrib.summary
    from tensorflow.core.framework import summary_pb2

    def whole(n):
        with tf.Graph().as_default() as g:
            gs = tf.train.create_global_step()
            w = s.create_file_writer("d%d" % n, max_queue=1, flush_millis=5, filename_suffix=".x", name="nm")
            with w.as_default(), s.record_summaries_every_n_global_steps(2):
                a = s.scalar("loss", tf.constant(1.5), family="f")
                with tf.name_scope("sc"):
                    s.histogram("h", tf.constant([1, 2, 3]))
                    s.generic("g", tf.constant([1, 2], tf.uint8), metadata=summary_pb2.SummaryMetadata(display_name="dn", plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="pp")))
                    s.generic("gs", tf.constant(["a", "b"]), metadata=b"", step=5)
                s.image("im", tf.zeros([4, 2, 2, 1]), max_images=2, bad_color=[0, 255, 0, 255])
                s.audio("au", tf.zeros([4, 2]), 8000.0, 1, step=tf.constant(3, tf.int64))
                with s.never_record_summaries():
                    s.scalar("never", 1.0)
                with s.always_record_summaries():
                    s.scalar("always", tf.constant(2, tf.int64), step=gs)
                    s.scalar("half", tf.constant(2, tf.float16))
                ops = s.all_summary_ops()
                out("ops %d" % n, [o.name for o in ops])
                out("should", str(s.should_record_summaries()))
                inc = tf.assign_add(gs, 1)
                with tf.Session() as sess:
                    sess.run(tf.global_variables_initializer())
                    out("init", [o.name for o in s.summary_writer_initializer_op()])
                    s.initialize(graph=g)
                    for _ in range(3):
                        sess.run(ops)
                        sess.run(inc)
                    sess.run(s.flush())
                    sess.run(w.close())
                    out.raises("after close", sess.run, ops)
            out.graph("graph", g)
        return sorted(events("d%d" % n), key=str)
    out("whole", whole(1))
    with tf.Graph().as_default():
        attempt(out, "no writer", lambda: str(s.scalar("x", 1.0)))
        attempt(out, "flush no writer", lambda: str(s.flush()))
        attempt(out, "flush bad", lambda: str(s.flush("x")))
        attempt(out, "initialize none", lambda: s.initialize())
        attempt(out, "import no", lambda: s.import_event("x"))
        attempt(out, "graph no", lambda: s.graph("x"))
        attempt(out, "graph no2", lambda: str(s.graph(tf.constant("x"))))
        attempt(out, "eval_dir", lambda: [s.eval_dir("a"), s.eval_dir("a", "b"), s.eval_dir("a/", "")])
        attempt(out, "none writer", lambda: str(s.create_file_writer(None).init()))
        attempt(out, "no session", lambda: s.create_file_writer("z").set_as_default() or s.initialize())
        attempt(out, "bad step", lambda: s.create_file_writer("z").set_as_default() or s.always_record_summaries().__enter__() or str(s.scalar("x", 1.0, step="q")))
        attempt(out, "float step", lambda: s.create_file_writer("z").set_as_default() or s.always_record_summaries().__enter__() or str(s.scalar("x", 1.0, step=1.5)))
        attempt(out, "int32 step", lambda: s.create_file_writer("z").set_as_default() or s.always_record_summaries().__enter__() or str(s.scalar("x", 1.0, step=tf.constant(1))))
        attempt(out, "string scalar", lambda: s.create_file_writer("z").set_as_default() or s.always_record_summaries().__enter__() or str(s.scalar("x", "q", step=1)))
        attempt(out, "bad name", lambda: s.create_file_writer("z").set_as_default() or s.always_record_summaries().__enter__() or str(s.scalar("x y:z", 1.0, step=1)))
        attempt(out, "None name", lambda: s.create_file_writer("z").set_as_default() or s.always_record_summaries().__enter__() or str(s.scalar(None, 1.0, step=1)))
