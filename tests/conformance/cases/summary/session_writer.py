"""FileWriter with a session: the ops it draws, and its life from the first event to a closed session."""
import glob
import tensorflow as tf


def run(out):
    loss = tf.summary.scalar("loss", 1.0)
    with tf.Session() as sess:
        writer = tf.summary.FileWriter("plain", session=sess)
        with tf.device("/cpu:0"), tf.name_scope("scope"):
            tf.summary.FileWriter("options", max_queue=5, flush_secs=7, filename_suffix=".mine", session=sess)
        with tf.control_dependencies([tf.no_op()]):
            tf.summary.FileWriter("after", session=sess)
        out.graph("ops", tf.get_default_graph())
        out("collected", [op.name for op in tf.get_collection("_SUMMARY_WRITER_V2")])
        writer.add_summary(sess.run(loss), 5)
        second = tf.summary.FileWriter("plain", session=sess)
        second.add_summary(sess.run(loss), 6)
        second.close()
        files = glob.glob("plain/*")
        out("one file for both", [len(files), files[0].endswith(".v2")])
        out("events", [[e.WhichOneof("what"), e.step] for e in tf.train.summary_iterator(files[0])])
        out.raises("flush after close", second.flush)
        second.close()
        second.add_summary(sess.run(loss), 7)
    out.raises("reopened in a closed session", second.reopen)
