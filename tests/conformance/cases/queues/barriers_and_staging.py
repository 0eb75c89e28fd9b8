"""Barriers (through the raw ops), staging areas, maps of them, and queues that are closed while someone waits."""

import threading

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import data_flow_ops


def run(out):
    b = data_flow_ops.Barrier((tf.float32, tf.float32), shapes=((), ()), name="B")
    out("name", [b.name, b.barrier_ref.op.type])
    size, ready = b.incomplete_size(), b.ready_size()
    ins = [b.insert_many(i, ["k1", "k2", "k3"], [10.0 * (i + 1), 20.0 * (i + 1), 30.0 * (i + 1)]) for i in (0, 1)]
    take = b.take_many(2)
    small = b.take_many(5, allow_small_batch=True)
    too_many = b.take_many(10, timeout=None)
    close = b.close()
    out("shapes", [t.shape.as_list() for t in (take[0], take[1], take[2][0])])
    out.raises("component", b.insert_many, 2, ["a"], [1.0])
    out.raises("shapes differ", data_flow_ops.Barrier, (tf.float32,), shapes=((), ()))
    with tf.Session() as sess:
        sess.run(ins[0])
        out("sizes", sess.run([ready, size]))
        sess.run(ins[1])
        out("sizes after", sess.run([ready, size]))
        i, k, v = sess.run(take)
        out("taken", [sorted(k.tolist()), sorted(v[0].tolist()), sorted(v[1].tolist())])
        out.raises("again", sess.run, ins[0], options=tf.RunOptions(timeout_in_ms=500))
        sess.run(close)
        out.raises("closed", sess.run, b.insert_many(0, ["z"], [1.0]))
        out("rest", sess.run(small)[1].tolist())
        out.raises("never enough", sess.run, too_many)
    stage = data_flow_ops.StagingArea([tf.float32, tf.int32], shapes=[[2], []], names=None, capacity=3)
    put = stage.put([tf.constant([1.0, 2.0]), tf.constant(7)])
    get, n, clear = stage.get(), stage.size(), stage.clear()
    peek = stage.peek(0)
    named = data_flow_ops.StagingArea([tf.float32], names=["x"])
    nput = named.put({"x": tf.constant([5.0])})
    nget = named.get()
    out.raises("dict needed", named.put, [tf.constant([5.0])])
    out.raises("no dict", stage.put, {"x": tf.constant(1.0)})
    m = data_flow_ops.MapStagingArea([tf.float32, tf.float32], names=["a", "b"], ordered=True)
    key = tf.placeholder(tf.int64, [])
    mput = m.put(key, {"a": tf.cast(key, tf.float32), "b": tf.cast(key, tf.float32) * 2})
    mpart = m.put(tf.constant(9, tf.int64), {"a": tf.constant(1.0)}, indices=[0])
    mget, mpeek = m.get(), m.peek(tf.constant(2, tf.int64))
    msize, minc = m.size(), m.incomplete_size()
    with tf.Session() as sess:
        sess.run(put), sess.run(put)
        out("peek", sess.run(peek)), out("n", sess.run(n)), out("get", sess.run(get))
        sess.run(clear), out("cleared", sess.run(n))
        sess.run(nput), out("named", sess.run(nget))
        for i in (5, 2, 3):
            sess.run(mput, {key: i})
        out("mpeek", sess.run(mpeek)), out("mget", sess.run(mget))
        sess.run(mpart)
        out("msizes", sess.run([msize, minc]))
    q = tf.FIFOQueue(2, [tf.float32], shapes=[[]], name="q")
    enq, deq, many, upto = q.enqueue(1.0), q.dequeue(), q.dequeue_many(3), q.dequeue_up_to(3)
    cl, cc = q.close(), q.close(cancel_pending_enqueues=True)
    with tf.Session() as sess:
        got = []

        def wait():
            try:
                got.append(sess.run(many).tolist())
            except Exception as e:  # noqa: BLE001
                got.append(type(e).__name__)

        t = threading.Thread(target=wait)
        t.start()
        sess.run(enq)
        sess.run(cl)
        t.join()
        out("waiting", got)
        out("closed?", sess.run(q.is_closed()))
        out("up to", sess.run(upto))
        out.raises("empty", sess.run, deq)
        out.raises("enqueue", sess.run, enq)
        out("cancel twice", sess.run(cc))
    out.graph()
