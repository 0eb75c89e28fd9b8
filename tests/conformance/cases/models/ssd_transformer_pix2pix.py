"""Whole networks side by side, as repositories of the time wrote them: MobileNet with SSD heads, a transformer, pix2pix."""

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim


def mobilenet(x, training, scope="MobilenetV1", mult=0.25, reg=True):
    ends = {}
    with tf.variable_scope(scope, "MobilenetV1", [x]):
        with slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d],
            padding="SAME",
            weights_initializer=tf.truncated_normal_initializer(stddev=0.09),
            activation_fn=tf.nn.relu6,
            normalizer_fn=slim.batch_norm,
        ):
            with slim.arg_scope([slim.batch_norm], is_training=training, center=True, scale=True, decay=0.9997, epsilon=0.001):
                with (
                    slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(4e-5)),
                    slim.arg_scope([slim.separable_conv2d], weights_regularizer=None if reg else slim.l2_regularizer(4e-5)),
                ):
                    n = slim.conv2d(x, int(32 * mult), [3, 3], stride=2, scope="Conv2d_0")
                    for i, (d, s) in enumerate([(64, 1), (128, 2), (128, 1)], 1):
                        n = slim.separable_conv2d(n, None, [3, 3], depth_multiplier=1, stride=s, rate=1, scope="Conv2d_%d_depthwise" % i)
                        ends["dw%d" % i] = n
                        n = slim.conv2d(n, int(d * mult), [1, 1], stride=1, scope="Conv2d_%d_pointwise" % i)
                        ends["pw%d" % i] = n
    return n, ends


def heads(ends, classes=3):
    boxes, scores = [], []
    for k, t in ends:
        with tf.variable_scope("Head_" + k):
            b = slim.conv2d(t, 4 * 2, [3, 3], activation_fn=None, scope="BoxEncoding")
            c = slim.conv2d(t, classes * 2, [3, 3], activation_fn=None, scope="Class", biases_initializer=tf.constant_initializer(-4.6))
            boxes.append(tf.reshape(b, tf.stack([tf.shape(b)[0], -1, 1, 4])))
            scores.append(tf.reshape(c, [tf.shape(c)[0], -1, classes]))
    return tf.concat(boxes, 1), tf.concat(scores, 1)


def attention(q, k, v, heads_n, bias, name="multihead_attention"):
    with tf.variable_scope(name, default_name="multihead_attention", values=[q, k]):

        def split(t):
            t = tf.reshape(t, tf.concat([tf.shape(t)[:-1], [heads_n, -1]], 0))
            return tf.transpose(t, [0, 2, 1, 3])

        q, k, v = [tf.layers.dense(t, 8, use_bias=False, name=n) for t, n in ((q, "q"), (k, "k"), (v, "v"))]
        logits = tf.matmul(split(q) * (4**-0.5), split(k), transpose_b=True)
        if bias is not None:
            logits += bias
        w = tf.nn.dropout(tf.nn.softmax(logits, name="attention_weights"), keep_prob=0.9)
        y = tf.transpose(tf.matmul(w, split(v)), [0, 2, 1, 3])
        y = tf.reshape(y, tf.concat([tf.shape(y)[:-2], [8]], 0))
        y.set_shape([None, None, 8])
        return tf.layers.dense(y, 8, use_bias=False, name="output_transform")


def layer_norm(x, name=None):
    with tf.variable_scope("layer_norm", reuse=tf.AUTO_REUSE):
        s = tf.get_variable("layer_norm_scale", [8], initializer=tf.ones_initializer())
        b = tf.get_variable("layer_norm_bias", [8], initializer=tf.zeros_initializer())
        m = tf.reduce_mean(x, axis=[-1], keepdims=True)
        v = tf.reduce_mean(tf.squared_difference(x, m), axis=[-1], keepdims=True)
        return (x - m) * tf.rsqrt(v + 1e-6) * s + b


def pix2pix(x):
    def conv(t, c, st):
        return tf.layers.conv2d(
            tf.pad(t, [[0, 0], [1, 1], [1, 1], [0, 0]]),
            c,
            4,
            strides=(st, st),
            padding="valid",
            kernel_initializer=tf.random_normal_initializer(0, 0.02),
        )

    def bn(t):
        return tf.layers.batch_normalization(
            t, axis=3, epsilon=1e-5, momentum=0.1, training=True, gamma_initializer=tf.random_normal_initializer(1.0, 0.02)
        )

    layers = []
    with tf.variable_scope("encoder_1"):
        layers.append(tf.layers.conv2d(x, 4, 4, strides=2, padding="same"))
    for c in (8, 8):
        with tf.variable_scope("encoder_%d" % (len(layers) + 1)):
            layers.append(bn(tf.layers.conv2d(0.6 * layers[-1] + 0.4 * tf.abs(layers[-1]), c, 4, strides=2, padding="same")))
    for i, (c, drop) in enumerate([(8, 0.5), (4, 0.0)]):
        with tf.variable_scope("decoder_%d" % (3 - i)):
            inp = layers[-1] if i == 0 else tf.concat([layers[-1], layers[2 - i]], axis=3)
            o = bn(tf.layers.conv2d_transpose(tf.nn.relu(inp), c, 4, strides=(2, 2), padding="same"))
            layers.append(tf.nn.dropout(o, keep_prob=1 - drop) if drop else o)
    with tf.variable_scope("decoder_1"):
        y = tf.tanh(tf.layers.conv2d_transpose(tf.nn.relu(tf.concat([layers[-1], layers[0]], 3)), 3, 4, strides=(2, 2), padding="same"))
    with tf.variable_scope("disc"):
        d = tf.sigmoid(conv(tf.nn.leaky_relu(conv(tf.concat([x, y], 3), 4, 2), 0.2), 1, 1))
    return y, d


def run(out):
    tf.set_random_seed(5)
    x = tf.placeholder(tf.float32, [None, 32, 32, 3], name="x")
    t = tf.placeholder_with_default(True, [], name="t")
    n, e = mobilenet(x, t)
    b, s = heads([(k, e[k]) for k in ("pw2", "pw3")])
    out("ssd", [b.name, b.shape.as_list(), s.name, s.shape.as_list()])
    with tf.variable_scope("", reuse=True):
        n2, _ = mobilenet(x, False)
    lab = tf.placeholder(tf.float32, [None, None, 3], name="lab")
    p = tf.sigmoid(s)
    focal = tf.reduce_sum(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=lab, logits=s) * tf.pow(1.0 - (lab * p + (1 - lab) * (1 - p)), 2.0)
    ) / tf.maximum(tf.reduce_sum(lab), 1.0)
    tf.losses.add_loss(focal)
    hub = tf.losses.huber_loss(tf.zeros_like(b), b, reduction=tf.losses.Reduction.MEAN)
    with tf.variable_scope("transformer"):
        h = tf.get_variable("emb", [11, 8], initializer=tf.random_normal_initializer(0.0, 8**-0.5))
        ids = tf.placeholder(tf.int32, [None, None], name="ids")
        z = tf.gather(h, ids) * 8**0.5
        z *= tf.expand_dims(tf.to_float(tf.not_equal(ids, 0)), -1)
        pos = tf.to_float(tf.range(tf.shape(z)[1]))
        inv = tf.exp(tf.to_float(tf.range(4)) * -(np.log(1e4) / 3))
        sc = tf.expand_dims(pos, 1) * tf.expand_dims(inv, 0)
        z += tf.reshape(tf.concat([tf.sin(sc), tf.cos(sc)], 1), [1, -1, 8])
        bias = tf.expand_dims(tf.expand_dims((1.0 - tf.matrix_band_part(tf.ones([tf.shape(z)[1]] * 2), -1, 0)) * -1e9, 0), 0)
        for i in range(2):
            with tf.variable_scope("layer_%d" % i):
                with tf.variable_scope("self_attention"):
                    z += attention(layer_norm(z), layer_norm(z), layer_norm(z), 2, bias, name=None)
                with tf.variable_scope("ffn"):
                    z += tf.layers.dense(tf.layers.dense(layer_norm(z), 16, activation=tf.nn.relu, name="conv1"), 8, name="conv2")
        lg = tf.tensordot(layer_norm(z), h, [[2], [1]])
        ce = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(ids, 11, on_value=0.9, off_value=0.01), logits=lg))
        out("lm", [lg.name, lg.shape.as_list(), ce.name])
    with tf.variable_scope("generator"):
        y, d = pix2pix(x)
    gl = tf.reduce_mean(-tf.log(d + 1e-12)) + 100 * tf.reduce_mean(tf.abs(x - y))
    out("p2p", [y.name, y.shape.as_list(), d.shape.as_list()])
    total = tf.losses.get_total_loss() + ce
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        opt = tf.train.AdamOptimizer(1e-3, beta2=0.98)
        gv = opt.compute_gradients(total)
        g, v = zip(*[q for q in gv if q[0] is not None])
        g, norm = tf.clip_by_global_norm(g, 1.0)
        train = opt.apply_gradients(zip(g, v), global_step=step)
        gt = tf.train.AdamOptimizer(2e-4, 0.5).minimize(gl, var_list=tf.trainable_variables("generator"))
    ema = tf.train.ExponentialMovingAverage(0.99, step)
    avg = ema.apply(tf.trainable_variables("MobilenetV1"))
    with tf.control_dependencies([train]):
        all_ = tf.group(avg, gt)
    r = np.random.RandomState(0)
    feed = {x: r.rand(2, 32, 32, 3), ids: [[1, 2, 3, 0], [4, 5, 6, 7]], lab: (r.rand(2, 64, 3) > 0.9).astype(np.float32)}
    feed[lab] = (r.rand(2, s.shape.as_list()[1] or 256, 3) > 0.9).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out("first", sess.run([total, focal, hub, ce], feed), rtol=1e-3, seeded=True)
        for i in range(3):
            sess.run(all_, feed)
        out("after", sess.run([total, norm, step], feed), rtol=5e-2, seeded=True)
    out("vars", [q.name for q in tf.global_variables()])
    out.graph()
