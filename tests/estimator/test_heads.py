"""Heads of tf.contrib.estimator: losses, weights, metrics and exports."""

import numpy as np
import pytest

import everflow as tf

heads = tf.contrib.estimator


def spec_of(head, mode, logits, labels=None, features=None):
    return head.create_estimator_spec(
        features or {},
        mode,
        tf.constant(logits),
        labels=labels,
        optimizer=tf.train.GradientDescentOptimizer(0.1) if mode == "train" else None,
    )


def evaluated(head, logits, labels, features=None):
    with tf.Graph().as_default():
        spec = spec_of(
            head() if callable(head) else head,
            "eval",
            logits,
            labels() if callable(labels) else labels,
            features and features(),
        )
        updates = {key: update for key, (_, update) in spec.eval_metric_ops.items()}
        values = {key: value for key, (value, _) in spec.eval_metric_ops.items()}
        with tf.Session() as sess:
            sess.run([tf.local_variables_initializer(), tf.tables_initializer()])
            loss, _ = sess.run([spec.loss, updates])
            return {"loss": loss, **sess.run(values)}


def test_binary_head():
    logits = np.array([[2.0], [-1.0], [0.5], [-3.0]], np.float32)
    got = evaluated(lambda: heads.binary_classification_head(thresholds=[0.8]), logits, np.array([[1], [0], [0], [1]]))
    assert got["accuracy"] == 0.5 and got["precision"] == 0.5 and got["recall"] == 0.5
    assert got["label/mean"] == 0.5 and got["accuracy_baseline"] == 0.5
    assert got["accuracy/positive_threshold_0.8"] == 0.75
    expected = np.log1p(np.exp(-np.abs(logits))) + np.maximum(logits, 0) - logits * np.array([[1], [0], [0], [1]])
    assert got["loss"] == pytest.approx(expected.mean())


def test_label_vocabulary_and_weights():
    def head():
        return heads.multi_class_head(
            3, label_vocabulary=["a", "b", "c"], weight_column="w", loss_reduction=tf.losses.Reduction.SUM
        )

    logits = np.eye(3, dtype=np.float32) * 4
    labels = np.array([b"a", b"b", b"a"])
    got = evaluated(head, logits, lambda: tf.constant(labels), lambda: {"w": tf.constant([1.0, 1.0, 2.0])})
    assert got["accuracy"] == pytest.approx(0.5)
    assert got["loss"] == pytest.approx(got["average_loss"] * 4)


def test_multi_label_head_takes_sparse_names():
    def labels():
        return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "z", "y"], [2, 2])

    def head():
        return heads.multi_label_head(3, label_vocabulary=["x", "y", "z"], classes_for_class_based_metrics=["z"])

    logits = np.array([[3.0, -3.0, 3.0], [-3.0, 3.0, -3.0]], np.float32)
    got = evaluated(head, logits, labels)
    assert got["auc"] == pytest.approx(1.0, abs=1e-4)
    assert got["loss"] == pytest.approx(np.log1p(np.exp(-3.0)), rel=1e-5)
    assert "probability_mean/z" in got


def test_regression_heads():
    logits, labels = np.array([[1.0], [2.0]], np.float32), np.array([3.0, 2.0], np.float32)
    assert evaluated(heads.regression_head, logits, labels := tf_labels(labels))["loss"] == pytest.approx(2.0)
    poisson = evaluated(lambda: heads.poisson_regression_head(compute_full_loss=False), logits, labels)
    assert poisson["prediction/mean"] == pytest.approx(np.exp(logits).mean())


def tf_labels(values):
    return lambda: tf.constant(values)


def test_multi_head_adds_losses_up():
    def head():
        return heads.multi_head(
            [heads.regression_head(name="a"), heads.regression_head(name="b")], head_weights=[1.0, 10.0]
        )

    got = evaluated(
        head, np.array([[1.0, 2.0]], np.float32), lambda: {"a": tf.constant([[3.0]]), "b": tf.constant([[3.0]])}
    )
    assert got["loss"] == pytest.approx(4 + 10 * 1)
    assert got["loss/a"] == pytest.approx(4) and got["average_loss/b"] == pytest.approx(1)


def test_update_ops_belong_to_the_step():
    with tf.Graph().as_default():
        tf.train.create_global_step()
        w = tf.get_variable("w", [1, 1])
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.no_op(name="update"))
        spec = heads.regression_head().create_estimator_spec(
            {},
            "train",
            tf.matmul([[1.0]], w),
            labels=tf.constant([[1.0]]),
            optimizer=tf.train.GradientDescentOptimizer(0.1),
        )
        assert "update" in [op.name for op in spec.train_op.control_inputs]


def test_exports():
    with tf.Graph().as_default():
        spec = spec_of(heads.binary_classification_head(), "infer", [[1.0]])
        assert sorted(spec.export_outputs) == ["classification", "predict", "regression", "serving_default"]


def test_mistakes():
    with pytest.raises(ValueError, match="n_classes"):
        heads.multi_class_head(2)
    with pytest.raises(ValueError, match="loss_reduction"):
        heads.regression_head(loss_reduction="none")
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="labels dimension=1"):
            spec_of(heads.regression_head(), "eval", [[1.0]], tf.zeros([1, 2]))
        with pytest.raises(ValueError, match="must provide a labels"):
            spec_of(heads.regression_head(), "eval", [[1.0]])
        with pytest.raises(ValueError, match="last dimension"):
            spec_of(heads.regression_head(), "infer", [[1.0, 2.0]])


@pytest.mark.parametrize("by_keras", [False, True])
def test_public_heads(tmp_path, by_keras):
    """They take Keras's optimizers, and their metrics are Keras's."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [-1.0, 1.0]], np.float32)
    y = np.array([[0], [1], [1], [1]])

    def model_fn(features, labels, mode):
        head = tf.estimator.BinaryClassHead(thresholds=[0.3])
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.25), use_resource=by_keras)
        logits = tf.matmul(features["x"], w)
        options = {
            "train_op_fn": lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(
                loss, tf.train.get_global_step()
            )
        }
        if by_keras and mode == "train":
            optimizer = tf.keras.optimizers.SGD(0.1)
            optimizer.iterations = tf.train.get_global_step()
            options = {"optimizer": optimizer, "trainable_variables": tf.trainable_variables()}
        return head.create_estimator_spec(features, mode, logits, labels=labels, **(options if mode == "train" else {}))

    def data(repeat=1):
        return lambda: tf.data.Dataset.from_tensors(({"x": x}, y)).repeat(repeat)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(data(2))
    np.testing.assert_allclose(estimator.get_variable_value("w"), [[0.2292], [0.3124]], atol=1e-4)
    result = estimator.evaluate(data())
    assert (
        result["accuracy"] == 0.75
        and result["accuracy_baseline"] == 0.75
        and result["accuracy/positive_threshold_0.3"] == 0.75
    )


def test_multi_label_head_checks_sparse_classes():
    with tf.Graph().as_default(), tf.Session() as sess:
        classes = tf.placeholder(tf.int64, [2])
        labels = tf.SparseTensor([[0, 0], [1, 0]], classes, [2, 2])
        head = tf.contrib.estimator.multi_label_head(3)
        spec = head.create_estimator_spec({"x": tf.ones([2, 1])}, "eval", tf.zeros([2, 3]), labels=labels)
        assert sess.run(spec.loss, {classes: [1, 2]}) > 0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"values in \[0, 3\)"):
            sess.run(spec.loss, {classes: [1, 7]})
