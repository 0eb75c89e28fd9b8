"""train_and_evaluate, exporters, early stopping and evaluation while training."""

import json
import os

import numpy as np
import pytest

import everflow as tf


def model_fn(features, labels, mode):
    """Its weight goes 5, 4, 3, ... with the steps, and its loss is the weight's distance from zero."""
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(5.0))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": features["x"] * w})
    loss = tf.abs(w) + 0.0 * tf.reduce_sum(features["x"])
    train_op = tf.group(tf.assign_sub(w, 1.0), tf.assign_add(tf.train.get_global_step(), 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(repeat=None):
    return lambda: tf.data.Dataset.from_tensors({"x": np.ones(2, np.float32)}).repeat(repeat)


def serving():
    x = tf.placeholder(tf.float32, [None])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def run(folder, max_steps, hooks=lambda estimator: (), **options):
    estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(str(folder), save_checkpoints_steps=1))
    train_spec = tf.estimator.TrainSpec(data(), max_steps=max_steps, hooks=hooks(estimator))
    eval_spec = tf.estimator.EvalSpec(data(1), steps=None, throttle_secs=0, start_delay_secs=0, **options)
    return estimator, tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)


class Noting(tf.estimator.Exporter):
    name = "noting"

    def __init__(self):
        self.calls = []

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        self.calls.append((os.path.basename(checkpoint_path), float(eval_result["loss"]), is_the_final_export))


def test_each_checkpoint_is_evaluated_and_exported(tmp_path):
    noting = Noting()
    _, (metrics, exports) = run(tmp_path, 3, exporters=[noting, tf.estimator.FinalExporter("final", serving)])
    assert noting.calls == [("model.ckpt-1", 4.0, False), ("model.ckpt-2", 3.0, False), ("model.ckpt-3", 2.0, True)]
    assert metrics["global_step"] == 3 and exports[0] is None
    assert tf.contrib.predictor.from_saved_model(exports[1].decode())({"x": [1.0]})["y"] == [2.0]


def test_best_and_latest_exporters_keep_so_many(tmp_path):
    best = tf.estimator.BestExporter(serving_input_receiver_fn=serving, exports_to_keep=1)
    run(tmp_path, 7, exporters=[best, tf.estimator.LatestExporter("latest", serving, exports_to_keep=2)])
    (kept,) = os.listdir(tmp_path / "export/best_exporter")
    assert tf.contrib.predictor.from_saved_model(str(tmp_path / "export/best_exporter" / kept))({"x": [1.0]})["y"] == [
        0.0
    ]
    assert len(os.listdir(tmp_path / "export/latest")) == 2


def test_early_stopping(tmp_path):
    stop = tf.estimator.experimental.stop_if_no_decrease_hook
    estimator, _ = run(tmp_path, 20, lambda e: [stop(e, "loss", 2, run_every_secs=None, run_every_steps=1)])
    # The best evaluation was at step 5; two steps later it is noticed, with the step after.
    assert estimator.get_variable_value("global_step") == 7
    assert "signal_early_stopping/STOP" in estimator.get_variable_names()


def test_evaluation_while_training(tmp_path):
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(estimator, data(2), every_n_iter=2)
    estimator.train(data(), steps=5, hooks=[hook])
    (name,) = os.listdir(estimator.eval_dir())
    written = [
        (e.step, v.simple_value)
        for e in tf.train.summary_iterator(os.path.join(estimator.eval_dir(), name))
        for v in e.summary.value
        if v.tag == "loss"
    ]
    assert written == [(0, 5.0), (2, 3.0), (4, 1.0), (5, 0.0)]


def test_the_evaluator_of_a_cluster_waits_for_the_last_step(tmp_path, monkeypatch):
    run(tmp_path, 2)
    cluster = {"chief": ["localhost:1"], "ps": ["localhost:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "evaluator", "index": 0}}))
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    noting = Noting()
    eval_spec = tf.estimator.EvalSpec(data(1), steps=None, exporters=noting, throttle_secs=0, start_delay_secs=0)
    tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(data(), max_steps=2), eval_spec)
    assert noting.calls == [("model.ckpt-2", 3.0, True)]


def test_ps_and_evaluators_do_not_train(tmp_path, monkeypatch):
    cluster = {"chief": ["localhost:1"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "evaluator", "index": 0}}))
    with pytest.raises(ValueError, match="train_and_evaluate"):
        tf.estimator.Estimator(model_fn, str(tmp_path)).train(data(), steps=1)


def test_training_under_a_strategy(tmp_path):
    """Two replicas take a batch each, and their losses count as a mean."""
    xs = np.random.RandomState(0).randn(16, 2).astype(np.float32)
    ys = xs @ np.array([[1.0], [2.0]], np.float32)

    def linear(features, labels, mode):
        y = tf.matmul(features["x"], tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer()))
        loss = tf.losses.mean_squared_error(labels, y)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn(batch):
        return lambda: tf.data.Dataset.from_tensor_slices(({"x": xs}, ys)).batch(batch).repeat()

    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    session_config = tf.ConfigProto(device_count={"CPU": 2})
    config = tf.estimator.RunConfig(str(tmp_path / "two"), train_distribute=strategy, session_config=session_config)
    two = tf.estimator.Estimator(linear, config=config).train(input_fn(4), steps=2)
    one = tf.estimator.Estimator(linear, str(tmp_path / "one")).train(input_fn(8), steps=2)
    assert two.get_variable_names() == one.get_variable_names() == ["global_step", "w"]
    np.testing.assert_allclose(two.get_variable_value("w"), one.get_variable_value("w"), rtol=1e-5)
