"""Losses and metrics of target columns, with and without weights."""

import tensorflow as tf

slim = tf.contrib.slim
layers = tf.contrib.layers


def run(out):
    logits = tf.constant([[0.1], [0.8], [-0.5], [0.9]])
    l = tf.constant([0, 1, 1, 0])
    l2 = tf.constant([[0], [1], [1], [0]])
    got = {}
    f = {"w": tf.constant([1.0, 2.0, 1.0, 3.0])}
    for name, t, labels in (
        ("plain", layers.multi_class_target(2), l),
        ("weighted", layers.multi_class_target(2, weight_column_name="w"), l2),
        ("svm", slim.binary_svm_target(), l2),
        ("svm w", slim.binary_svm_target(weight_column_name="w"), l2),
        ("many", layers.multi_class_target(3, weight_column_name="w"), None),
    ):
        if labels is None:
            r = t.get_eval_ops(f, tf.constant([[1.0, 2.0, 3.0]] * 4), l)
        else:
            r = t.get_eval_ops(f, logits, labels, {"mine": lambda predictions, labels, weights=None: tf.metrics.mean(predictions, weights)})
        out(name + " keys", [[k, type(v).__name__, len(v)] for k, v in sorted(r.items())])
        for k, v in r.items():
            got[name + " " + k] = v[1]
    out.graph()
    with tf.Session() as s:
        s.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        out("values", s.run(got))
