"""tf.train's ways to batch from queues: shapes, graphs, runners, and one run to its end."""

import tensorflow as tf


def run(out):
    tf.set_random_seed(2)
    i = tf.train.range_input_producer(6, shuffle=False, num_epochs=2)
    x = i.dequeue()
    b = tf.train.batch([x, tf.stack([x, x * 2])], 4, allow_smaller_final_batch=True, name="bb")
    x2 = tf.train.range_input_producer(6, shuffle=False, num_epochs=1).dequeue()
    mb = tf.train.maybe_batch([x2], tf.equal(x2 % 2, 0), 2)
    x3 = tf.train.input_producer(tf.constant([[1, 2], [3, 4]]), shuffle=False, num_epochs=2).dequeue()
    bj = tf.train.batch_join([[x3], [x3 * 10]], 2, enqueue_many=True)
    x4 = tf.train.slice_input_producer([tf.range(5), tf.range(5) * 2], shuffle=True, seed=3, num_epochs=1)
    sb = tf.train.shuffle_batch(x4, 2, 10, 2, seed=4, allow_smaller_final_batch=True)
    sbj = tf.train.shuffle_batch_join([[x3], [x3 * 5]], 2, 10, 2, seed=4)
    msb = tf.train.maybe_shuffle_batch([x2], 2, 10, 2, tf.equal(x2 % 3, 0), seed=9)
    msbj = tf.train.maybe_shuffle_batch_join([[x2], [x2]], 2, 10, 2, tf.equal(x2 % 3, 0), seed=9)
    mbj = tf.train.maybe_batch_join([[x2], [x2 + 1]], tf.equal(x2 % 2, 0), 2, dynamic_pad=True)
    dp = tf.train.batch([tf.range(x)], 3, dynamic_pad=True)
    for n, t in dict(b0=b[0], b1=b[1], mb=mb, bj=bj, sb=sb[0], sbj=sbj, msb=msb, msbj=msbj, mbj=mbj, dp=dp).items():
        out.shape(n, t)
    out.graph()
    out("qr", [q.name for q in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)])
    out("sum", [t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)])
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.train.range_input_producer(7, shuffle=False, num_epochs=1).dequeue()
        b = tf.train.batch([x], 3, allow_smaller_final_batch=True)
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        c = tf.train.Coordinator()
        th = tf.train.start_queue_runners(s, c)
        got = []
        try:
            while True:
                got.append(s.run(b).tolist())
        except tf.errors.OutOfRangeError:
            pass
        c.request_stop()
        c.join(th)
        out("got", got)
    out.raises("err none", tf.train.batch, [], 3)
    out.raises("err shape", tf.train.batch, [tf.placeholder(tf.float32)], 3)
    out.raises("err join", tf.train.batch_join, [], 2)
    out.raises("err types", tf.train.batch_join, [[tf.constant(1)], [tf.constant(1.0)]], 2)
    out.raises("err sb", tf.train.shuffle_batch, [tf.constant(1)], 2, 2, 5)
