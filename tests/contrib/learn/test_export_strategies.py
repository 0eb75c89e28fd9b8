"""Export strategies of experiments, and the files that they leave."""

import os

import numpy as np
import pytest

import everflow as tf

learn = tf.contrib.learn
X = np.random.RandomState(0).randn(20, 2).astype("f")


def input_fn():
    return {"x": tf.constant(X)}, tf.constant((X[:, 0] > 0).astype("int64"))


def serving_input_fn():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def experiment(model_dir, strategies):
    estimator = tf.estimator.DNNClassifier([3], [tf.feature_column.numeric_column("x", [2])], model_dir=str(model_dir))
    return learn.Experiment(estimator, input_fn, input_fn, train_steps=2, eval_steps=1, export_strategies=strategies)


def test_the_newest_export_is_kept(tmp_path):
    strategy = learn.make_export_strategy(serving_input_fn, exports_to_keep=1)
    run = experiment(tmp_path, [strategy])
    for _ in range(2):
        results, (path,) = run.train_and_evaluate()
        assert results["global_step"] == 2
    assert os.listdir(tmp_path / "export" / "Servo") == [os.path.basename(path).decode()]
    # Parts of partitioned variables have a shard apart from the others.
    assert sorted(os.listdir(os.path.join(path.decode(), "variables"))) == [
        "variables.data-00000-of-00002",
        "variables.data-00001-of-00002",
        "variables.index",
    ]


def test_functions_get_the_arguments_they_name():
    def export_fn(estimator, path, checkpoint_path=None):
        return path, checkpoint_path

    assert learn.ExportStrategy("n", export_fn).export(None, "p", "ck", {"loss": 1}) == ("p", "ck")
    assert learn.ExportStrategy("n", lambda estimator, path: path).export(None, "p", "ck") == "p"


def test_strategies_can_be_replaced(tmp_path):
    strategy = learn.ExportStrategy("n", lambda estimator, path: path)
    run = experiment(tmp_path, strategy)
    assert run.reset_export_strategies() == (strategy,)
    assert run.reset_export_strategies([strategy]) == ()
    with pytest.raises(ValueError, match="must be an ExportStrategy"):
        run.reset_export_strategies([1])
