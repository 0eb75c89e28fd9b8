"""tf.contrib.predictor over estimators of tf.contrib.learn, and strategies of TPUs by their contrib names."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

learn = tf.contrib.learn


def model_fn(features, labels, mode):
    weight = tf.get_variable("w", [1], initializer=tf.ones_initializer())
    step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    return learn.ModelFnOps(mode, {"sum": features["x"] + features["y"] + weight}, tf.constant(0.0), step)


def numbers():
    return {"x": tf.constant([1.0]), "y": tf.constant([2.0])}, tf.constant([1.0])


def served():
    inputs = {name: tf.placeholder(tf.float32, [None], name=name) for name in "xy"}
    return learn.InputFnOps(inputs, None, inputs)


@pytest.fixture
def estimator(tmp_path):
    made = learn.Estimator(model_fn, model_dir=str(tmp_path))
    made.fit(input_fn=numbers, steps=1)
    return made


def test_an_estimator_of_learn_is_called_with_arrays(estimator):
    predictor = tf.contrib.predictor.from_contrib_estimator(estimator, served)
    np.testing.assert_allclose(predictor({"x": [1.0, 2.0], "y": [3.0, 4.0]})["sum"], [5.0, 7.0])
    assert set(predictor.feed_tensors) == {"x", "y"} and "sum" in repr(predictor)
    with pytest.raises(ValueError, match="unexpected keys"):
        predictor({"z": [1.0]})


def test_outputs_and_inputs_that_are_not_there_are_refused(estimator):
    with pytest.raises(ValueError, match="input_alternative_key"):
        tf.contrib.predictor.from_contrib_estimator(estimator, served, input_alternative_key="z")
    with pytest.raises(ValueError, match="names no outputs"):
        tf.contrib.predictor.from_contrib_estimator(estimator, served, output_alternative_key="z")


def test_estimators_of_core_have_another_function():
    core = tf.estimator.Estimator(lambda features, labels, mode: None)
    with pytest.raises(TypeError, match="from_estimator"):
        tf.contrib.predictor.from_contrib_estimator(core, served)


def test_strategies_of_tpus_say_that_there_is_none():
    for strategy in (tf.contrib.distribute.TPUStrategy, tf.distribute.experimental.TPUStrategy):
        with pytest.raises(IndexError, match="cores of a TPU"):
            strategy(steps_per_run=5)


def test_an_all_reduce_over_workers_adds_up():
    ops = tf.contrib.distribute.MultiWorkerAllReduce(["/job:worker/task:0"], 0, [("pscpu", 1, 10), ("pscpu", 1, -1)])
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=ops)
    with strategy.scope():
        total = strategy.experimental_run_v2(lambda: tf.constant(3.0))
        reduced = strategy.reduce(tf.distribute.ReduceOp.SUM, total)
    with tf.Session() as session:
        assert session.run(reduced) == 3.0
    with pytest.raises(ValueError, match="grow"):
        tf.contrib.distribute.MultiWorkerAllReduce(["/job:worker/task:0"], 0, [("pscpu", 1, 10), ("pscpu", 1, 5)])
