"""tf.compat.v2: functions whose arguments changed, and the nodes they draw."""
import numpy as np
import tensorflow as tf


def run(out):
    v2 = tf.compat.v2
    x = tf.placeholder(tf.float32, [2, 3])
    calls = {
        "argmax": lambda: v2.argmax(x, 1), "argmax0": lambda: v2.argmax(x), "reduce_sum": lambda: v2.reduce_sum(x, 1, True), "reduce_mean": lambda: v2.reduce_mean(x), "rl": lambda: v2.reduce_logsumexp(x, [0]),
        "expand": lambda: v2.expand_dims(x, 0), "squeeze": lambda: v2.squeeze(v2.expand_dims(x, 0), 0), "gather": lambda: v2.gather(x, [0], None, 1), "gather_nd": lambda: v2.gather_nd(x, [[0]]),
        "zl": lambda: v2.zeros_like(x), "ol": lambda: v2.ones_like(input=x, dtype=tf.int32), "pad": lambda: v2.pad(x, [[1, 1], [0, 0]], "CONSTANT", 3), "tr": lambda: v2.transpose(x, [1, 0]),
        "shape": lambda: v2.shape(x), "size": lambda: v2.size(x, tf.int64), "constant": lambda: v2.constant([1, 2]), "ctt": lambda: v2.convert_to_tensor([1], None, tf.float32),
        "cond": lambda: v2.cond(tf.constant(True), lambda: [x], lambda: [x + 1])[0], "while": lambda: v2.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])[0],
        "softmax": lambda: v2.nn.softmax(x), "ls": lambda: v2.nn.log_softmax(x, 0), "moments": lambda: v2.nn.moments(x, [0])[0], "sx": lambda: v2.nn.sparse_softmax_cross_entropy_with_logits([0, 1], x),
        "sig": lambda: v2.nn.sigmoid_cross_entropy_with_logits(x, x), "conv": lambda: v2.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, "SAME"), "conv1": lambda: v2.nn.conv1d(tf.ones([1, 4, 1]), tf.ones([2, 1, 1]), 1, "SAME"),
        "convo": lambda: v2.nn.convolution(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])), "dw": lambda: v2.nn.depthwise_conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "SAME"), "mp": lambda: v2.nn.max_pool(tf.ones([1, 4, 4, 1]), 2, 2, "SAME"),
        "emb": lambda: v2.nn.embedding_lookup(tf.ones([4, 2]), [1]), "embs": lambda: v2.nn.embedding_lookup([tf.ones([2, 2]), tf.ones([2, 2])], [1, 3]), "sub": lambda: v2.strings.substr(["abc"], 1, 1), "num": lambda: v2.strings.to_number(["1.5"]),
        "len": lambda: v2.strings.length(["abc"]), "rj": lambda: v2.strings.reduce_join(["a", "b"], separator="-"), "bm": lambda: v2.boolean_mask([1, 2], [True, False]), "ae": lambda: v2.debugging.assert_equal(x, x), "ar": lambda: v2.assert_rank(x, 2),
        "grad": lambda: v2.gradients(x * 2, x)[0], "csv": lambda: v2.io.decode_csv(["1,2"], [[1], [2]])[0], "sadd": lambda: v2.sparse.to_dense(v2.sparse.add(tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[0]], [1], [2]))),
        "topk": lambda: v2.math.in_top_k([0], [[1., 2.]], 1), "cm": lambda: v2.math.confusion_matrix([0, 1], [1, 1]), "cn": lambda: v2.math.count_nonzero(x), "rs": lambda: v2.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0),
        "bts": lambda: v2.batch_to_space(tf.ones([4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]), "stb": lambda: v2.space_to_batch(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]), "d2s": lambda: v2.nn.depth_to_space(tf.ones([1, 1, 1, 4]), 2), "tuple": lambda: v2.tuple([x])[0],
        "var": lambda: v2.Variable(1.0).read_value(), "mse": lambda: v2.losses.mean_squared_error([1.0], [2.0]), "init": lambda: v2.initializers.RandomNormal(seed=1)([2]), "ri": lambda: v2.random_normal_initializer(seed=3)([2]), "case": lambda: v2.case([(tf.constant(True), lambda: x)], default=lambda: x),
        "dr": lambda: v2.io.decode_raw(["ab"], tf.uint8), "aaf": lambda: v2.debugging.assert_all_finite(x, "m"),
    }
    for k in sorted(calls):
        def go():
            nonlocal x
            with tf.Graph().as_default():
              x = tf.placeholder(tf.float32, [2, 3])
              t = calls[k]()
              return [[n.name + ":" + n.op for n in tf.get_default_graph().as_graph_def().node], str(getattr(t, "shape", t)), str(getattr(t, "dtype", ""))]
        attempt(out, k, go)


def attempt(out, label, fn):
    try:
        v = fn()
    except Exception as e:
        v = type(e).__name__
    out(label, v)
