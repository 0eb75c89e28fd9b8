"""tf.metrics one after another with weights, several updates, and what they are at the start and after."""

import numpy as np
import tensorflow as tf


def run(out):
    rng = np.random.RandomState(0)
    labels, preds, weights = (
        tf.placeholder(t, [4], name=n)
        for t, n in ((tf.int64, "labels"), (tf.float32, "preds"), (tf.float32, "weights"))
    )
    hard = tf.cast(preds > 0.5, tf.int64)
    scores = tf.stack([preds, 1 - preds, preds * 0.5], 1)
    all_ = {
        "precision": tf.metrics.precision(labels, hard, weights),
        "recall": tf.metrics.recall(labels, hard),
        "fn": tf.metrics.false_negatives(labels, hard),
        "fp": tf.metrics.false_positives(labels, hard, weights),
        "tn": tf.metrics.true_negatives(labels, hard),
        "tp": tf.metrics.true_positives(labels, hard),
        "fpt": tf.metrics.false_positives_at_thresholds(labels, preds, [0.2, 0.6]),
        "prt": tf.metrics.precision_at_thresholds(labels, preds, [0.2, 0.6], weights),
        "ret": tf.metrics.recall_at_thresholds(labels, preds, [0.2, 0.6]),
        "iou": tf.metrics.mean_iou(labels, hard, 2),
        "mpca": tf.metrics.mean_per_class_accuracy(labels, hard, 2, weights),
        "mse": tf.metrics.mean_squared_error(tf.cast(labels, tf.float32), preds),
        "rmse": tf.metrics.root_mean_squared_error(tf.cast(labels, tf.float32), preds, weights),
        "mae": tf.metrics.mean_absolute_error(tf.cast(labels, tf.float32), preds),
        "mre": tf.metrics.mean_relative_error(tf.cast(labels, tf.float32), preds, preds + 1.0),
        "cos": tf.metrics.mean_cosine_distance(
            tf.nn.l2_normalize(tf.stack([preds, preds**2], 1), 1), tf.nn.l2_normalize(tf.ones([4, 2]), 1), 1
        ),
        "pb": tf.metrics.percentage_below(preds, 0.5),
        "sas": tf.metrics.sensitivity_at_specificity(labels, preds, 0.6),
        "sps": tf.metrics.specificity_at_sensitivity(labels, preds, 0.6, num_thresholds=50),
        "apk": tf.metrics.average_precision_at_k(labels, scores, 2),
        "pk": tf.metrics.precision_at_k(labels, scores, 1, class_id=1),
        "rk": tf.metrics.recall_at_k(labels, scores, 2),
        "ptop": tf.metrics.precision_at_top_k(labels[:, None], tf.cast(tf.nn.top_k(scores, 2)[1], tf.int64), 2),
        "aucpr": tf.metrics.auc(labels, preds, curve="PR", summation_method="careful_interpolation"),
        "acc": tf.metrics.accuracy(labels, hard, weights),
    }
    names = sorted(all_)
    values, updates = [all_[n][0] for n in names], [all_[n][1] for n in names]
    out("vars", sorted(v.op.name for v in tf.local_variables()))
    out.raises("shapes", tf.metrics.precision, tf.zeros([2]), tf.zeros([3]))
    out.raises("bad k", tf.metrics.recall_at_k, labels, scores, None)
    out.raises("sensitivity", tf.metrics.specificity_at_sensitivity, labels, preds, 1.5)
    out.raises("curve", tf.metrics.auc, labels, preds, curve="X")
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        out("start", dict(zip(names, sess.run(values))))
        for i in range(3):
            feed = {labels: rng.randint(0, 2, 4), preds: rng.rand(4).astype("f"), weights: rng.rand(4).astype("f")}
            out("update %d" % i, dict(zip(names, sess.run(updates, feed))), rtol=1e-4)
        out("end", dict(zip(names, sess.run(values))), rtol=1e-4)
    out.graph()
