"""Counts at thresholds, areas under curves and rankings, over several batches with weights."""

import numpy as np
import tensorflow as tf


def run(out):
    r = np.random.RandomState(0)
    lab = tf.placeholder(tf.int64, [None], name="lab")
    pr = tf.placeholder(tf.float32, [None], name="pr")
    w = tf.placeholder(tf.float32, [None], name="w")
    cls = tf.placeholder(tf.int64, [None], name="cls")
    M = {}
    b = tf.cast(lab > 0, tf.bool)
    for n in ("false_negatives", "false_positives", "true_negatives", "true_positives", "precision", "recall"):
        M[n] = getattr(tf.metrics, n)(b, pr > 0.5, weights=w)
    for n in (
        "false_negatives_at_thresholds",
        "false_positives_at_thresholds",
        "true_negatives_at_thresholds",
        "true_positives_at_thresholds",
        "precision_at_thresholds",
        "recall_at_thresholds",
    ):
        M[n] = getattr(tf.metrics, n)(b, pr, [0.2, 0.5, 0.8], weights=w)
    M["iou"] = tf.metrics.mean_iou(lab, cls, 3, weights=w)
    M["pca"] = tf.metrics.mean_per_class_accuracy(lab, cls, 3)
    M["sas"] = tf.metrics.sensitivity_at_specificity(b, pr, 0.6)
    M["sps"] = tf.metrics.specificity_at_sensitivity(b, pr, 0.6, num_thresholds=50)
    M["auc"] = tf.metrics.auc(b, pr, weights=w, curve="PR", num_thresholds=40, summation_method="careful_interpolation")
    M["auc2"] = tf.metrics.auc(b, pr, summation_method="minoring")
    M["pbt"] = tf.metrics.percentage_below(pr, 0.4)
    M["mrel"] = tf.metrics.mean_relative_error(pr, pr * 2, pr + 1)
    M["cos"] = tf.metrics.mean_cosine_distance(tf.reshape(pr, [-1, 1]), tf.reshape(pr, [-1, 1]), 1)
    M["rmse"] = tf.metrics.root_mean_squared_error(pr, w)
    M["mae"] = tf.metrics.mean_absolute_error(pr, w, w)
    lg = tf.placeholder(tf.float32, [None, 4], name="lg")
    M["ap"] = tf.metrics.average_precision_at_k(tf.reshape(lab, [-1, 1]), lg, 2)
    M["rk"] = tf.metrics.recall_at_k(tf.reshape(lab, [-1, 1]), lg, 2, class_id=1)
    M["pk"] = tf.metrics.precision_at_k(tf.reshape(lab, [-1, 1]), lg, 2, weights=w)
    M["ptk"] = tf.metrics.precision_at_top_k(
        tf.reshape(lab, [-1, 1]), tf.nn.top_k(lg, 2)[1] if False else tf.cast(tf.nn.top_k(lg, 2)[1], tf.int64)
    )
    M["rtk"] = tf.metrics.recall_at_top_k(tf.reshape(lab, [-1, 1]), tf.cast(tf.nn.top_k(lg, 2)[1], tf.int64))
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        for i in range(3):
            f = {lab: r.randint(0, 3, 6), pr: r.rand(6), w: r.rand(6), cls: r.randint(0, 3, 6), lg: r.rand(6, 4)}
            for n, (v, u) in M.items():
                out("%s u%d" % (n, i), s.run(u, f), rtol=1e-4, atol=1e-5)
        for n, (v, u) in M.items():
            out(n, s.run(v), rtol=1e-4, atol=1e-5)
            out.shape(n + " s", v)
    out("vars", [v.name for v in tf.local_variables()])
    out.graph()
    out.raises("err thr", tf.metrics.sensitivity_at_specificity, b, pr, 1.5)
    out.raises("err curve", tf.metrics.auc, b, pr, curve="X")
    out.raises("err k", tf.metrics.recall_at_k, lab, lg, 0) if False else None
