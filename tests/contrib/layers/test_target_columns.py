"""Target columns of tf.contrib.layers."""

import numpy as np
import pytest

import everflow as tf

layers = tf.contrib.layers
WEIGHTS = {"w": [1.0, 3.0]}


def run(make):
    with tf.Graph().as_default(), tf.Session() as session:
        made = make()
        session.run(tf.local_variables_initializer())
        return session.run(made)


def test_numbers():
    target = layers.regression_target(weight_column_name="w")
    logits, labels = tf.constant, np.array([1.0, 4.0], "float32")
    assert run(lambda: target.loss(logits([[0.0], [2.0]]), tf.constant(labels), WEIGHTS)) == pytest.approx(
        (1 + 3 * 4) / 4
    )
    assert run(lambda: target.training_loss(logits([[0.0], [2.0]]), tf.constant(labels), WEIGHTS)) == pytest.approx(
        (1 + 3 * 4) / 2
    )
    assert run(lambda: target.logits_to_predictions(logits([[0.0], [2.0]]))).tolist() == [0, 2]


def test_classes():
    two, three = layers.multi_class_target(2), layers.multi_class_target(3, "label")
    logits = [[0.0], [4.0]]
    assert run(lambda: two.logits_to_predictions(tf.constant(logits))).tolist() == [0, 1]
    assert run(lambda: two.logits_to_predictions(tf.constant(logits), proba=True)).sum(1).tolist() == pytest.approx(
        [1, 1]
    )
    updates = run(
        lambda: [update for _, update in two.get_eval_ops({}, tf.constant(logits), tf.constant([0, 1])).values()]
    )
    assert len(updates) == 8
    loss = run(lambda: three.loss(tf.zeros([2, 3]), {"label": tf.constant([[0], [2]])}, {}))
    assert loss == pytest.approx(np.log(3))
    assert (two.num_label_columns, three.num_label_columns) == (1, 3)
    with pytest.raises(ValueError, match="n_classes"):
        layers.multi_class_target(1)


def test_metrics_of_classes_and_probabilities():
    two, three = layers.multi_class_target(2, weight_column_name="w"), layers.multi_class_target(3)
    seen = {}

    def metric(name):
        def call(predictions, labels, weights=None):
            seen[name] = (predictions.dtype, labels.dtype, weights is None)
            return predictions, predictions

        return call

    with tf.Graph().as_default():
        features = {"w": tf.constant([1.0, 3.0])}
        made = two.get_eval_ops(
            features,
            tf.constant([[0.0], [4.0]]),
            tf.constant([0, 1]),
            {"c": metric("c"), ("p", "probabilities"): metric("p")},
        )
        assert len(made) == 10 and {"c", "p"} < set(made)
        assert seen == {"c": (tf.int64, tf.int64, False), "p": (tf.float32, tf.float32, False)}
        assert sorted(three.get_eval_ops({}, tf.zeros([2, 3]), tf.constant([0, 1]))) == ["accuracy", "loss"]
        for name in (("p", "x"), ("p", "classes", "x")):
            with pytest.raises(ValueError, match="metric"):
                two.get_eval_ops(features, tf.constant([[0.0], [4.0]]), tf.constant([0, 1]), {name: metric("c")})
