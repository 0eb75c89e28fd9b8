"""contrib.summary in graphs: writers, record_if, every kind, graph and import_event, flush; what the files hold."""

import glob

import numpy as np
import tensorflow as tf
from tensorflow.contrib import summary


def run(out):
    step = tf.train.create_global_step()
    writer = summary.create_file_writer("logs", max_queue=2, flush_millis=1000, filename_suffix=".mine")
    flag = tf.placeholder_with_default(True, [], name="flag")
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        s = summary.scalar("loss", tf.constant(2.5), family="f")
    with writer.as_default(), summary.always_record_summaries():
        h = summary.histogram("h", tf.constant([1.0, 2.0, 2.0]), step=tf.constant(7, tf.int64))
        g = summary.generic("g", tf.constant([[1, 2]]), metadata="", step=3)
        i = summary.image("im", tf.constant(np.zeros([2, 2, 2, 3], np.uint8)), max_images=1)
        a = summary.audio("au", tf.zeros([1, 100, 1]), 8000, 1)
        init, flush, close = summary.summary_writer_initializer_op(), summary.flush(), writer.close()
    with writer.as_default(), summary.never_record_summaries():
        never = summary.scalar("never", 1.0)
    out("all", len(summary.all_summary_ops()))
    out("outside", summary.scalar("nowhere", 1.0) is not None)
    out.raises("step", summary.scalar, "x", 1.0, step="a")
    bump = tf.assign_add(step, 1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out.raises("no writer yet", sess.run, h)
        sess.run(init)
        for _ in range(3):
            sess.run([s, never])
            sess.run(bump)
        sess.run([h, g, i, a])
        sess.run(flush)
        sess.run(close)
    files = glob.glob("logs/*.mine")
    events = [e for f in files for e in tf.train.summary_iterator(f)]
    found = sorted(
        (e.step, v.tag, v.WhichOneof("value"), v.metadata.plugin_data.plugin_name)
        for e in events
        for v in e.summary.value
    )
    out("events", found)
    out("files", len(files))
    out("tensors", [v.tensor.dtype for e in events for v in e.summary.value if v.tag == "g"])
    out.graph()
