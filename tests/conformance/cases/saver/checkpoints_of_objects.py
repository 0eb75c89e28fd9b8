"""tf.train.Checkpoint over nests of trackables: lists, dicts, optimizers, Keras, tables, partial restores, statuses, managers, list_variables; v1 Saver beside it."""

import os

import numpy as np
import tensorflow as tf


def run(out):
    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.layers_ = [tf.keras.layers.Dense(2, name="a"), tf.keras.layers.Dense(1, name="b")]
            self.table = {"x": tf.keras.layers.Dense(1)}

        def call(self, x):
            for layer in self.layers_:
                x = layer(x)
            return x + self.table["x"](x)

    def build():
        tf.set_random_seed(1)
        net, opt, step = Net(), tf.train.AdamOptimizer(0.1), tf.train.get_or_create_global_step()
        x = tf.constant([[1.0, 2.0]])
        train = opt.minimize(tf.reduce_sum(net(x) ** 2), global_step=step)
        return net, opt, step, x, train

    with tf.Graph().as_default(), tf.Session() as sess:
        net, opt, step, x, train = build()
        root = tf.train.Checkpoint(
            net=net,
            optimizer=opt,
            step=step,
            extra=tf.contrib.checkpoint.List([tf.Variable(5.0, name="five")]),
            mapping=tf.contrib.checkpoint.Mapping(k=tf.Variable([1, 2])),
        )
        manager = tf.train.CheckpointManager(root, "ckpts", max_to_keep=2, checkpoint_name="model")
        sess.run(tf.global_variables_initializer())
        sess.run(root.save_counter.initializer)
        for _ in range(3):
            sess.run(train)
            path = manager.save()
        out(
            "paths",
            [os.path.basename(p) for p in manager.checkpoints]
            + [os.path.basename(path), sorted(f for f in os.listdir("ckpts") if "data" not in f)],
        )
        out("names", sorted(n for n, _ in tf.train.list_variables(path) if n != "_CHECKPOINTABLE_OBJECT_GRAPH"))
        out(
            "shapes",
            sorted(
                (n, s) for n, s in tf.train.list_variables(path) if "Adam" in n or "m/" in n or ".OPTIMIZER_SLOT" in n
            )[:4],
        )
        before = sess.run([net.weights, step, opt.get_slot(net.weights[0], "m"), root.save_counter])
        value = sess.run(net(x))
        tf.train.Saver().save(sess, "v1/model", global_step=step)
        written = root.write("plain/one")
        out(
            "written",
            [os.path.basename(written), tf.train.latest_checkpoint("ckpts") == path, tf.train.checkpoint_exists(path)],
        )
    with tf.Graph().as_default(), tf.Session() as sess:
        net, opt, step, x, train = build()
        root = tf.train.Checkpoint(net=net, optimizer=opt, step=step)
        status = root.restore(path)
        status.initialize_or_restore(sess)
        after = sess.run([net.weights, step, opt.get_slot(net.weights[0], "m"), root.save_counter])
        out(
            "restored",
            [
                all(np.allclose(a, b) for a, b in zip(before[0], after[0])),
                before[1] == after[1],
                np.allclose(before[2], after[2]),
                after[3],
            ],
        )
        out("value", np.allclose(value, sess.run(net(x))))
        out.raises("consumed", status.assert_consumed)
        out("existing", type(status.assert_existing_objects_matched()).__name__)
        out("type", type(status).__name__)
    with tf.Graph().as_default(), tf.Session() as sess:
        part = tf.train.Checkpoint(net=tf.keras.Sequential(), other=tf.Variable(3.0))
        status = part.restore(path)
        out.raises("not matched", status.assert_existing_objects_matched)
        out.raises("gone", tf.train.Checkpoint().restore, "ckpts/none")
        empty = tf.train.Checkpoint(v=tf.Variable(1.0))
        status = empty.restore(None)
        status.initialize_or_restore(sess)
        out("none", [type(status).__name__, sess.run(empty.v)])
        out.raises("none consumed", status.assert_consumed)
    with tf.Graph().as_default(), tf.Session() as sess:
        net, opt, step, x, train = build()
        root = tf.train.Checkpoint(net=net, optimizer=opt, step=step)
        v1 = tf.train.latest_checkpoint("v1")
        status = root.restore(v1)
        out("v1 type", type(status).__name__)
        tf.train.Saver().restore(sess, v1)
        out("v1", [np.allclose(a, b) for a, b in zip(before[0], sess.run(net.weights))])
        reader = tf.train.load_checkpoint(path)
        out(
            "reader",
            [
                reader.has_tensor("step/.ATTRIBUTES/VARIABLE_VALUE"),
                int(tf.train.load_variable(path, "step/.ATTRIBUTES/VARIABLE_VALUE")),
                sorted(reader.get_variable_to_shape_map()["net/layers_/0/kernel/.ATTRIBUTES/VARIABLE_VALUE"]),
            ],
        )
        out.raises("attribute", lambda: tf.train.Checkpoint(a=3))
        out.raises("save path", root.save, "")
    with tf.Graph().as_default() as g:
        net, opt, step, x, train = build()
        root = tf.train.Checkpoint(net=net, optimizer=opt, step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(root.save_counter.initializer)
            root.save("g/x", session=sess)
        out.graph("graph", g)
