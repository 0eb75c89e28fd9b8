"""Heads of tf.contrib.learn by themselves: losses with weights, metrics, what is served, and what is refused."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import learn
from everflow.contrib.learn import ModeKeys

pytestmark = pytest.mark.usefixtures("own_graph")


def made(head, logits, labels, mode=ModeKeys.EVAL, **given):
    given.setdefault("features", {})
    return head.create_model_fn_ops(mode=mode, labels=labels, logits=logits, train_op_fn=learn.no_op_train_fn, **given)


def ran(*wanted):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return sess.run(wanted)


def metrics(ops):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        sess.run([update for _, update in ops.eval_metric_ops.values()])
        return sess.run({key: value for key, (value, _) in ops.eval_metric_ops.items()})


def test_what_is_trained_is_the_mean_of_weighted_losses_and_what_is_shown_their_weighted_mean():
    head = learn.regression_head(weight_column_name="w")
    ops = made(head, [[1.0], [2.0]], [[0.0], [4.0]], features={"w": [[2.0], [5.0]]})
    assert ran(ops.loss)[0] == (2 * 1 + 5 * 4) / 2
    assert metrics(ops)["loss"] == pytest.approx((2 * 1 + 5 * 4) / 7)


def test_weights_may_be_a_vector_or_one_number():
    for weights, loss in (([2.0, 5.0], 11.0), (3.0, 7.5)):
        ops = made(learn.regression_head(weight_column_name="w"), [[1.0], [2.0]], [0.0, 4.0], features={"w": weights})
        assert ran(ops.loss)[0] == loss


@pytest.mark.parametrize(
    ("head", "logits", "labels", "names"),
    [
        (lambda: learn.regression_head(), [[1.0]], [[0.0]], ["mean_squared_loss", "predictions/scores"]),
        (lambda: learn.poisson_regression_head(), [[1.0]], [[0.0]], ["_poisson_loss/loss", "predictions/Exp"]),
        (lambda: learn.multi_class_head(2), [[1.0]], [[0]], ["log_loss_with_two_classes", "predictions/logistic"]),
        (lambda: learn.multi_class_head(3), [[1.0, 0, 0]], [[0]], ["softmax_cross_entropy_loss/ExpandDims"]),
        (lambda: learn.multi_label_head(2), [[1.0, 0]], [[0, 1]], ["sigmoid_cross_entropy_loss/loss"]),
        (lambda: learn.binary_svm_head(), [[1.0]], [[0]], ["hinge_loss/Rank", "predictions/classes"]),
    ],
    ids=["regression", "poisson", "binary", "classes", "labels", "svm"],
)
def test_graphs_have_tensorflow_names(head, logits, labels, names):
    head = head()
    ops = made(head, logits, labels)
    scope = ops.loss.name.split("/")[0]
    known = {op.name for op in tf.get_default_graph().get_operations()}
    assert {f"{scope}/{name}" for name in names} | {"loss", "Identity"} <= known


def test_metrics_of_single_classes():
    head = learn.multi_class_head(3, metric_class_ids=[2], head_name="h")
    found = metrics(made(head, [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]], [[2], [0]]))
    assert found["accuracy/h"] == 0.5
    assert found["labels/logits_mean/class2/h"] == pytest.approx(1.5)
    assert found["labels/actual_label_mean/class2/h"] == pytest.approx(0.5)


def test_thresholds_of_two_classes():
    head = learn.multi_class_head(2, thresholds=[0.2, 0.8])
    found = metrics(made(head, [[0.0], [2.0]], [[0], [1]]))
    assert found["accuracy/threshold_0.200000_mean"] == 0.5 and found["accuracy/threshold_0.800000_mean"] == 1.0
    assert found["precision/positive_threshold_0.200000_mean"] == pytest.approx(0.5)


def test_sparse_labels_are_the_classes_that_hold():
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 0, 1], tf.int64), [2, 2])
    logits = [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]
    ops = made(learn.multi_label_head(3), logits, sparse)
    dense = made(learn.multi_label_head(3), logits, [[1, 0, 1], [0, 1, 0]])
    first, second = ran(ops.loss, dense.loss)
    assert first == second


def test_words_as_labels():
    head = learn.multi_class_head(3, label_keys=["a", "b", "c"])
    ops = made(head, [[1.0, 0.0, 2.0]], [["c"]])
    assert metrics(ops)["accuracy"] == 1.0
    (problem, served) = ops.output_alternatives[None]
    assert problem == learn.ProblemType.CLASSIFICATION
    assert ran(served["classes"])[0].tolist() == [[b"a", b"b", b"c"]]


def test_a_loss_of_ones_own():
    def loss_fn(labels, logits, weights=None):
        return tf.reduce_sum(logits)

    assert ran(made(learn.multi_class_head(3, loss_fn=loss_fn), [[1.0, 2.0, 3.0]], [[1]]).loss)[0] == 6.0
    with pytest.raises(ValueError, match="weights"):
        learn.multi_class_head(3, loss_fn=lambda labels, logits: logits)
    with pytest.raises(ValueError, match="scalar"):
        made(learn.multi_class_head(3, loss_fn=lambda labels, logits, weights=None: logits), [[1.0, 2.0, 3.0]], [[1]])


def test_a_centered_bias_learns_beside_the_model():
    head = learn.regression_head(enable_centered_bias=True)
    ops = made(head, [[0.0], [0.0]], [[3.0], [5.0]], ModeKeys.TRAIN)
    (bias,) = (v for v in tf.global_variables() if v.op.name.endswith("centered_bias_weight"))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(400):
            sess.run(ops.train_op)
        assert 1.0 < sess.run(bias)[0] < 4.0


def test_several_heads():
    heads = [
        learn.multi_class_head(3, label_name="a", head_name="x"),
        learn.regression_head(label_name="b", head_name="y"),
        learn.loss_only_head(lambda: tf.constant(3.0), "penalty"),
    ]
    labels = {"a": [[2]], "b": [[0.0]]}
    weighted = learn.multi_head(heads, loss_weights=[1.0, 0.5, 2.0])
    assert weighted.logits_dimension == 4
    whole = made(weighted, [[1.0, 0.0, 2.0, 4.0]], labels)
    by_name = made(weighted, {"x": [[1.0, 0.0, 2.0]], "y": [[4.0]]}, labels)
    expected = np.log(np.exp([1.0, 0.0, 2.0]).sum()) - 2.0 + 0.5 * 16 + 6
    np.testing.assert_allclose(ran(whole.loss, by_name.loss), [expected] * 2, rtol=1e-6)
    assert set(whole.predictions) == {("x", "logits"), ("x", "probabilities"), ("x", "classes"), ("y", "scores")}
    trained = made(weighted, [[1.0, 0.0, 2.0, 4.0]], labels, ModeKeys.TRAIN)
    assert trained.predictions is None and trained.train_op is not None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: made(learn.regression_head(), None, [[1.0]]), "Neither"),
        (lambda: made(learn.regression_head(), [[1.0]], [[1.0]], logits_input=[[1.0]]), "Both"),
        (lambda: made(learn.regression_head(), [[1.0, 2.0]], [[1.0]]), "not compatible"),
        (lambda: made(learn.regression_head(weight_column_name="w"), [[1.0]], [[1.0]]), "'w'"),
        (lambda: made(learn.multi_class_head(3), [[1.0, 2.0, 3.0]], [[1.0]]), "whole numbers"),
        (lambda: made(learn.regression_head(label_name="l"), [[1.0]], {"k": [[1.0]]}), "'l'"),
        (lambda: learn.multi_class_head(2, label_keys=["a", "b"]), "Two classes"),
        (lambda: learn.multi_class_head(3, metric_class_ids=[3]), "no class 3"),
        (lambda: learn.multi_class_head(3, label_keys=["a"]), "1 label_keys"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
