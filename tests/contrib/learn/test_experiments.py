"""Experiments, monitors and learn_runner of tf.contrib.learn. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf

layers, learn = tf.contrib.layers, tf.contrib.learn
X = np.random.RandomState(0).normal(size=(20, 4)).astype("float32")
Y = (X[:, 0] > 0).astype(int)
COLUMNS = [layers.real_valued_column("", dimension=4)]


def data():
    return tf.constant(X), tf.constant(Y)


def classifier(folder, **options):
    config = learn.RunConfig(tf_random_seed=1, model_dir=str(folder), **options)
    return learn.LinearClassifier(feature_columns=COLUMNS, config=config)


def experiment(folder, **options):
    return learn.Experiment(
        classifier(folder, save_checkpoints_steps=2),
        data,
        data,
        train_steps=5,
        eval_steps=1,
        eval_delay_secs=0,
        **options,
    )


def test_train_and_evaluate(tmp_path):
    results, _ = experiment(tmp_path / "plain").train_and_evaluate()
    assert round(float(results["loss"]), 4) == 0.428 and results["global_step"] == 5
    again, _ = experiment(tmp_path / "often", min_eval_frequency=1).train_and_evaluate()
    assert again["loss"] == results["loss"]
    assert experiment(tmp_path / "test").test()["global_step"] == 1


def test_apart(tmp_path):
    made = experiment(tmp_path)
    made.train()
    assert made.evaluate()["global_step"] == made.continuous_eval(throttle_delay_secs=0)["global_step"] == 5


@pytest.mark.parametrize(("only_once", "times"), [(True, 1), (False, 3)])
def test_a_checkpoint_is_evaluated_once_or_again(tmp_path, only_once, times):
    classifier(tmp_path).fit(X, Y, steps=2)
    evaluations, turns = [], []
    hook = tf.train.SessionRunHook()
    hook.end = evaluations.append
    experiment(tmp_path, eval_hooks=[hook]).continuous_eval(
        throttle_delay_secs=0,
        evaluate_checkpoint_only_once=only_once,
        continuous_eval_predicate_fn=lambda results: turns.append(results) or len(turns) <= 3,
    )
    assert len(evaluations) == times


def test_learn_runner(tmp_path):
    run = learn.learn_runner.run
    config = learn.RunConfig(model_dir=str(tmp_path / "a"))
    results, _ = run(lambda run_config, hparams: experiment(run_config.model_dir), run_config=config)
    assert results["global_step"] == 5
    assert (
        run(lambda output_dir: experiment(output_dir), output_dir=str(tmp_path / "b"), schedule="test")["global_step"]
        == 1
    )
    for arguments in (
        {},
        {"output_dir": "x", "run_config": config},
        {"output_dir": str(tmp_path / "c"), "schedule": "nothing"},
    ):
        with pytest.raises(ValueError):
            run(lambda output_dir: experiment(output_dir), **arguments)


def test_validation_stops_early(tmp_path):
    monitor = learn.monitors.ValidationMonitor(
        X,
        Y,
        every_n_steps=2,
        early_stopping_rounds=4,
        early_stopping_metric="accuracy",
        early_stopping_metric_minimize=False,
    )
    model = classifier(tmp_path, save_checkpoints_steps=1).fit(X, Y, steps=60, monitors=[monitor])
    assert monitor.early_stopped and monitor.best_step == 2 and model.get_variable_value("global_step") == 6


def test_monitors_are_told_of_steps(tmp_path):
    seen = []

    class Mine(learn.monitors.EveryN):
        def every_n_step_begin(self, step):
            return ["linear/bias_weight/part_0:0"]

        def every_n_step_end(self, step, outputs):
            seen.append((step, *outputs))
            return step >= 7

    classifier(tmp_path / "mine").fit(X, Y, steps=20, monitors=[Mine(3, 2)])
    assert seen == [(step, "linear/bias_weight/part_0:0") for step in (1, 2, 5, 8)]
    capture = learn.monitors.CaptureVariable("linear/bias_weight/part_0:0", every_n=2)
    classifier(tmp_path / "capture").fit(X, Y, steps=5, monitors=[capture])
    assert {step: round(float(value[0]), 4) for step, value in capture.values.items()} == {1: 0, 3: 0.0049, 5: 0.0131}
