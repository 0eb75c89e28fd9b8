"""Estimator: training goes through checkpoints, evaluation and prediction read them, functions are called with what
they name.
"""

import functools
import os

import numpy as np
import pytest

import everflow as tf

X = np.arange(8, dtype=np.float32).reshape(4, 2)
Y = X.sum(1, keepdims=True)


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(params.get("start", 0.5)))
    y = tf.matmul(features["x"], w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "double": 2 * y})
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"mean": tf.metrics.mean(y)})


def data(repeat=None):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2).repeat(repeat)


def estimator(folder, **kwargs):
    return tf.estimator.Estimator(model_fn, str(folder), **{"params": {}, **kwargs})


def events(folder):
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            yield from tf.train.summary_iterator(os.path.join(folder, name))


def test_training_goes_on_from_the_checkpoint(tmp_path):
    first = estimator(tmp_path)
    first.train(data(), steps=3)
    assert first.get_variable_value("global_step") == 3
    second = estimator(tmp_path)
    second.train(data(), max_steps=5)
    assert second.get_variable_value("global_step") == 5
    before = second.latest_checkpoint()
    second.train(data(), max_steps=5)
    assert second.latest_checkpoint() == before


def test_input_that_ends_ends_training(tmp_path):
    made = estimator(tmp_path).train(data(1))
    assert made.get_variable_value("global_step") == 2


def test_evaluation_is_written_beside_the_model(tmp_path):
    made = estimator(tmp_path)
    made.train(data(), steps=1)
    result = made.evaluate(data(1), name="held")
    assert sorted(result) == ["global_step", "loss", "mean"]
    assert made.eval_dir("held").endswith("eval_held")
    written = {v.tag: v.simple_value for e in events(made.eval_dir("held")) for v in e.summary.value}
    assert written["loss"] == pytest.approx(result["loss"])
    assert "checkpoint_path" in written


def test_predictions_by_example_and_by_batch(tmp_path):
    made = estimator(tmp_path)
    rows = list(made.predict(data(1), predict_keys="y"))
    assert len(rows) == 4 and sorted(rows[0]) == ["y"]
    assert [batch["double"].shape for batch in made.predict(data(1), yield_single_examples=False)] == [(2, 1), (2, 1)]
    with pytest.raises(ValueError, match="at least one output"):
        next(made.predict(data(1), predict_keys=["other"]))


def test_summaries_carry_the_step(tmp_path):
    config = tf.estimator.RunConfig(
        str(tmp_path), save_summary_steps=2, save_checkpoints_steps=4, log_step_count_steps=3
    )
    tf.estimator.Estimator(model_fn, config=config, params={}).train(data(), steps=5)
    tags = [(e.step, v.tag) for e in events(tmp_path) for v in e.summary.value]
    assert [step for step, tag in tags if tag == "loss"] == [1, 3, 5]
    assert [step for step, tag in tags if tag == "global_step/sec"] == [4]
    assert (tmp_path / "graph.pbtxt").exists() and (tmp_path / "model.ckpt-4.index").exists()


def test_warm_start(tmp_path):
    old = estimator(tmp_path / "old")
    old.train(data(), steps=2)
    new = estimator(tmp_path / "new", params={"start": 9.0}, warm_start_from=str(tmp_path / "old"))
    assert new.evaluate(data(1))["loss"] == pytest.approx(old.evaluate(data(1))["loss"])
    new.train(data(), steps=1)
    np.testing.assert_allclose(
        tf.train.load_variable(str(tmp_path / "new/model.ckpt-0"), "w"), old.get_variable_value("w")
    )


def test_functions_get_the_arguments_they_name(tmp_path):
    seen = []

    def input_fn(mode, params, config):
        seen.append((mode, params, config.model_dir))
        return data()()

    class Model:
        def __call__(self, features, labels, mode, params):
            return model_fn(features, labels, mode, params)

    tf.estimator.Estimator(Model(), str(tmp_path), params={"start": 1.0}).train(input_fn, steps=1)
    assert seen == [("train", {"start": 1.0}, str(tmp_path))]
    tf.estimator.Estimator(functools.partial(model_fn, params={}), str(tmp_path))
    with pytest.raises(ValueError, match="not expected args"):
        tf.estimator.Estimator(lambda features, other: None, str(tmp_path))
    with pytest.raises(ValueError, match="must include features"):
        tf.estimator.Estimator(lambda x: None, str(tmp_path))


def test_labels_that_the_model_does_not_take(tmp_path):
    made = tf.estimator.Estimator(lambda features, mode: None, str(tmp_path))
    with pytest.raises(ValueError, match="does not take labels"):
        made.train(data(), steps=1)


def test_members_keep_their_meaning():
    class Mine(tf.estimator.Estimator):
        def train(self):
            pass

    with pytest.raises(ValueError, match="cannot override"):
        Mine(model_fn)


def test_metrics_of_reserved_names(tmp_path):
    def with_loss(features, labels, mode):
        loss = tf.reduce_sum(features["x"])
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"loss": tf.metrics.mean(loss)})

    with pytest.raises(ValueError, match="already defines"):
        tf.estimator.Estimator(with_loss, str(tmp_path)).evaluate(data(1))


def test_add_metrics_and_forward_features(tmp_path):
    made = estimator(tmp_path)
    more = tf.estimator.add_metrics(made, lambda features, labels: {"labels": tf.metrics.mean(labels)})
    assert more.evaluate(data(1))["labels"] == pytest.approx(Y.mean())
    forwarded = tf.contrib.estimator.forward_features(made, "x")
    np.testing.assert_array_equal([p["x"] for p in forwarded.predict(data(1))], X)


def test_tpu_estimators_run_without_a_tpu(tmp_path):
    seen = []

    def tpu_model_fn(features, labels, mode, params):
        seen.append((mode, params["batch_size"], params["use_tpu"]))
        w = tf.get_variable("w", [2, 1])
        y = tf.matmul(features["x"], w)
        loss = tf.losses.mean_squared_error(labels, y)
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        metrics = (lambda y: {"mean": tf.metrics.mean(y)}, [y])
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)

    def input_fn(params):
        return (
            tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(4).batch(params["batch_size"], drop_remainder=True)
        )

    config = tf.contrib.tpu.RunConfig(
        model_dir=str(tmp_path), tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=10)
    )
    made = tf.contrib.tpu.TPUEstimator(
        tpu_model_fn, config=config, use_tpu=False, train_batch_size=4, eval_batch_size=2
    )
    made.train(input_fn, max_steps=2)
    assert "mean" in made.evaluate(input_fn, steps=1)
    assert seen == [("train", 4, False), ("eval", 2, False)]
