"""Strategies of versions 1 and 2 side by side: variables, updates, reductions, datasets, optimizers, checkpoints."""
import numpy as np
import tensorflow as tf
d2 = tf.compat.v2.distribute


def run(out):
    for name, make in [("one", lambda: tf.distribute.OneDeviceStrategy("/cpu:0")), ("mirrored", lambda: tf.distribute.MirroredStrategy(["/cpu:0"])), ("mirrored 2", lambda: d2.MirroredStrategy(["/cpu:0"])), ("central", lambda: tf.distribute.experimental.CentralStorageStrategy(["/cpu:0"])), ("central 2", lambda: d2.experimental.CentralStorageStrategy(["/cpu:0"]))]:
        with tf.Graph().as_default(), tf.Session() as s:
            tf.set_random_seed(1); st = make(); out(name + " kinds", [isinstance(st, tf.distribute.Strategy), isinstance(st, d2.Strategy), st.num_replicas_in_sync])
            with st.scope():
                v = tf.Variable(2., name="v"); m = tf.get_variable("m", [], synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM, initializer=tf.zeros_initializer()); step = tf.train.get_or_create_global_step()
                opt = tf.train.MomentumOptimizer(0.1, 0.9)
                def fn(x):
                    loss = tf.reduce_mean(tf.square(v * x - 1.)); up = m.assign_add(1.); 
                    with tf.control_dependencies([opt.minimize(loss, global_step=step), up]): return tf.identity(loss)
                it = st.make_dataset_iterator(tf.data.Dataset.from_tensor_slices(np.float32([1, 2, 3, 4])).batch(2).repeat())
                loss = st.experimental_run_v2(fn, args=(it.get_next(),)); total = st.reduce("MEAN", loss, axis=None); rows = st.reduce(tf.distribute.ReduceOp.SUM, st.experimental_run_v2(lambda: tf.constant([1., 2., 3.])), axis=0)
            s.run(it.initialize()); s.run(tf.global_variables_initializer())
            out(name + " losses", [float(s.run(total)) for _ in range(3)], rtol=1e-5); out(name + " rows", float(s.run(rows))); out(name + " m", float(s.run(m.read_value()))); out(name + " step", int(s.run(step)))
            out(name + " variables", sorted(x.name for x in tf.global_variables())); tf.train.Saver().save(s, "./ck_" + name.replace(" ", "")); out(name + " saved", tf.train.list_variables("./ck_" + name.replace(" ", "")))
            with st.scope(): out(name + " upd", s.run(st.extended.update(v, lambda q, a: q.assign(a), args=(5.,)) if name != "none" else v) is not None); out(name + " v", float(s.run(v)))
            if name.endswith("2"): out.raises(name + " axis", lambda: st.reduce("SUM", loss))
            out(name + " seeded", s.run(st.reduce("SUM", st.experimental_run_v2(lambda: tf.random_uniform([2], seed=4)), axis=None)), seeded=True)
