"""Training with hooks and evaluating what it saved."""

import pytest

import everflow as tf

T = tf.contrib.training


def model():
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0]])
    predicted = tf.contrib.layers.linear(x, 1, weights_initializer=tf.ones_initializer())
    return y, predicted, tf.losses.mean_squared_error(y, predicted)


def test_train_then_evaluate(tmp_path):
    with tf.Graph().as_default():
        loss = model()[2]
        train_op = T.create_train_op(loss, tf.train.GradientDescentOptimizer(0.01))
        assert T.train(
            train_op, str(tmp_path), hooks=[tf.train.StopAtStepHook(5)], save_summaries_steps=None
        ) == pytest.approx(0.7373, abs=1e-3)
    with tf.Graph().as_default():
        y, predicted, _ = model()
        value, update = tf.metrics.mean_squared_error(y, predicted)
        options = {"eval_ops": update, "final_ops": [value, T.get_or_create_eval_step()]}
        once = T.evaluate_once(
            tf.train.latest_checkpoint(str(tmp_path)), hooks=[T.StopAfterNEvalsHook(3, log_progress=False)], **options
        )
        assert once[1] == 3
        assert once[0] < 0.75


def test_waiting_ends(tmp_path):
    assert T.wait_for_new_checkpoint(str(tmp_path), timeout=0) is None
    assert list(T.checkpoints_iterator(str(tmp_path), timeout=0)) == []
