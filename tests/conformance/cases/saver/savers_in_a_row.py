"""Savers in a row: partitioned, sharded, renamed, old format, kept by number; state files and recovery."""
import os
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saver_pb2


def run(out):
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [5, 2], initializer=tf.random_uniform_initializer(seed=3)); r = tf.get_variable("r", [4], use_resource=True, initializer=tf.ones_initializer())
    b = tf.get_variable("b", [2], initializer=tf.constant_initializer(2.)); step = tf.train.get_or_create_global_step()
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="tab", checkpoint=True)
    ema = tf.train.ExponentialMovingAverage(0.5, num_updates=step); avg = ema.apply([b]); plain_all = None
    sharded_dummy = 0; plain, sharded = tf.train.Saver(max_to_keep=2, pad_step_number=True), tf.train.Saver({"n/w": w, "bb": b}, sharded=True, name="sh")
    shadow = tf.train.Saver({ema.average_name(b): b}, name="shadow"); out("restores", sorted(ema.variables_to_restore([b])))
    old = tf.train.Saver([b, step], write_version=saver_pb2.SaverDef.V1, name="old")
    inc = tf.assign_add(step, 1)
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.tables_initializer()]); s.run(table.insert(["a", "b"], [5, 6]))
        before = s.run(w.as_tensor())
        for i in range(4):
            s.run(inc); s.run(b.assign_add([1., 1.])); s.run(avg); plain.save(s, "ck/model", global_step=step, write_meta_graph=i == 3)
        out("files", sorted(os.listdir("ck"))); out("state", open("ck/checkpoint").read()); out("last", [os.path.basename(p) for p in plain.last_checkpoints])
        sharded.save(s, "ck/sh", write_state=False); old.save(s, "ck/old", latest_filename="oldstate"); out("v1 exists", tf.train.checkpoint_exists("ck/old"))
        out("sharded vars", tf.train.list_variables("ck/sh")); out("old vars", tf.train.list_variables("ck/old"))
        s.run([b.initializer, step.initializer]); old.restore(s, "ck/old"); out("from old", s.run([b, step])); shadow.restore(s, tf.train.latest_checkpoint("ck")); out("shadow", s.run(b))
        s.run(table.insert(["a"], [50])); plain.restore(s, tf.train.latest_checkpoint("ck")); out("table", s.run(table.lookup(tf.constant(["a", "b", "z"])))); out("w same", np.allclose(before, s.run(w.as_tensor())))
        out.raises("missing", lambda: tf.train.Saver({"nope": b}).restore(s, "ck/sh")); out.raises("shape", lambda: tf.train.Saver({"n/w": b}).restore(s, "ck/sh"))
        again = tf.train.Saver(max_to_keep=1); again.recover_last_checkpoints(["ck/model-00000003", "ck/model-00000004", "ck/none"]); out("recovered", again.last_checkpoints); again.save(s, "ck/model", global_step=9); out("after", sorted(f for f in os.listdir("ck") if f.startswith("model") and f.endswith("index")))
    with tf.Graph().as_default(), tf.Session() as s:
        sv = tf.train.import_meta_graph("ck/model-00000004.meta", import_scope="in", clear_devices=True); out("defs", str(sv.saver_def.restore_op_name)); out("imported", [v.name for v in tf.global_variables()])
        out("scoped", sorted(sv.export_meta_graph().collection_def))
    out.graph()
