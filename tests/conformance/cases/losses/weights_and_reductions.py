"""tf.losses with broadcast weights, reductions, scopes and collections; contrib.losses' metric learning; compute_weighted_loss corners."""

import numpy as np
import tensorflow as tf


def run(out):
    L, R = tf.losses, tf.losses.Reduction
    y = tf.constant([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0]], name="y")
    p = tf.placeholder(tf.float32, [2, 3], name="p")
    w = tf.constant([[1.0], [0.0]])
    made = {}
    for r in [r for r in R.all() if r != R.NONE]:
        made["mse " + r] = L.mean_squared_error(y, p, weights=w, reduction=r)
        made["huber " + r] = L.huber_loss(y, p, weights=2.0, delta=0.5, reduction=r, scope="h")
    made.update(
        {
            "abs": L.absolute_difference(y, p),
            "hinge": L.hinge_loss(tf.cast(y > 0.5, tf.float32), p),
            "log": L.log_loss(tf.clip_by_value(y, 0.0, 1.0), tf.sigmoid(p)),
            "cos": L.cosine_distance(tf.nn.l2_normalize(y, 1), tf.nn.l2_normalize(p, 1), axis=1),
            "pair": L.mean_pairwise_squared_error(y, p, weights=[[1.0], [2.0]]),
            "sig": L.sigmoid_cross_entropy(tf.cast(y > 0.5, tf.int32), p, label_smoothing=0.1),
            "soft": L.softmax_cross_entropy(tf.one_hot([0, 2], 3), p, weights=[1.0, 3.0], label_smoothing=0.2),
            "sparse": L.sparse_softmax_cross_entropy([2, 0], p, weights=tf.constant([0.0, 2.0])),
            "weighted": L.compute_weighted_loss(y * p, [[0.0, 1.0, 2.0]], loss_collection="mine"),
            "zero": L.mean_squared_error(y, p, weights=0.0),
            "triplet": tf.contrib.losses.metric_learning.triplet_semihard_loss(
                tf.constant([0, 0, 1, 1]), tf.concat([p, p + 0.3], 0)
            ),
            "npairs": tf.contrib.losses.metric_learning.npairs_loss(tf.constant([0, 1]), p, p * 1.1),
            "contrastive": tf.contrib.losses.metric_learning.contrastive_loss(tf.constant([1, 0]), p, y),
            "lifted": tf.contrib.losses.metric_learning.lifted_struct_loss(
                tf.constant([0, 0, 1, 1]), tf.concat([p, p + 0.3], 0)
            ),
            "seq": tf.contrib.seq2seq.sequence_loss(
                tf.tile(p[:, None], [1, 2, 1]), tf.constant([[0, 1], [2, 2]]), tf.constant([[1.0, 1.0], [1.0, 0.0]])
            ),
            "total": L.get_total_loss(add_regularization_losses=True, name="all"),
        }
    )
    out(
        "collections",
        [
            [t.name for t in L.get_losses()],
            [t.name for t in L.get_losses(scope="h")],
            [t.name for t in tf.get_collection("mine")],
        ],
    )
    out("static", {n: t.shape.as_list() for n, t in made.items()})
    out.raises("none", L.mean_squared_error, None, p)
    out.raises("shapes", L.absolute_difference, y, p[:, :2])
    out.raises("weights", L.absolute_difference, y, p, weights=[[1.0, 2.0]])
    out.raises("weights none", L.absolute_difference, y, p, weights=None)
    out.raises("reduction", L.absolute_difference, y, p, reduction="x")
    out.raises("labels", L.sparse_softmax_cross_entropy, [[1.0], [2.0]], p)
    out.raises("axis", L.cosine_distance, y, p)
    g = tf.gradients([made[n] for n in sorted(made)], p)
    names = sorted(made)
    with tf.Session() as sess:
        for turn, value in enumerate([np.linspace(-1, 1, 6).reshape(2, 3), np.ones([2, 3])]):
            for n, v in zip(names, sess.run([made[n] for n in names], {p: value})):
                out("%s %d" % (n, turn), v, rtol=1e-4, atol=1e-5)
        out("grads", sess.run(g, {p: np.linspace(-1, 1, 6).reshape(2, 3)}), rtol=1e-3, atol=1e-4)
    out.graph()
