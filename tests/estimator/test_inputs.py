"""numpy_input_fn and pandas_input_fn: batches from queues that threads fill."""

import numpy as np
import pytest

import everflow as tf

X = {"b": np.arange(5), "a": np.arange(10.0).reshape(5, 2)}


def batches(input_fn):
    with tf.Graph().as_default():
        tensors = input_fn()
        with tf.train.MonitoredSession() as sess:
            while not sess.should_stop():
                yield sess.run(tensors)


def test_epochs_run_into_each_other():
    got = list(
        batches(tf.estimator.inputs.numpy_input_fn(X, np.arange(5) * 2, batch_size=3, num_epochs=2, shuffle=False))
    )
    assert [labels.tolist() for _, labels in got] == [[0, 2, 4], [6, 8, 0], [2, 4, 6], [8]]
    assert list(got[0][0]) == ["a", "b"]
    np.testing.assert_array_equal(got[0][0]["a"], X["a"][:3])


def test_one_array_and_labels_by_name():
    got = list(batches(tf.estimator.inputs.numpy_input_fn(np.arange(3), {"y": np.arange(3.0)}, shuffle=False)))
    assert got[0][0].tolist() == [0, 1, 2] and got[0][1]["y"].tolist() == [0.0, 1.0, 2.0]


def test_shuffling_gives_each_row_once_an_epoch():
    got = [
        x
        for batch in batches(tf.estimator.inputs.numpy_input_fn(np.arange(50), batch_size=8, shuffle=True))
        for x in batch
    ]
    assert sorted(got) == list(range(50)) and got != sorted(got)


def test_mistakes():
    make = tf.estimator.inputs.numpy_input_fn
    with pytest.raises(ValueError, match="shuffle"):
        make(X)
    with pytest.raises(ValueError, match="same length"):
        make(X, np.arange(3), shuffle=False)()
    with pytest.raises(TypeError, match="dict or array"):
        make([1, 2], shuffle=False)()
    with pytest.raises(ValueError, match="duplicate"):
        make(X, {"a": np.arange(5)}, shuffle=False)()


def test_a_model_that_is_fed_from_memory_can_be_trained_and_saved(tmp_path):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.cast(features["b"], tf.float32) * w - labels))
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        )

    labels = np.arange(5, dtype=np.float32) * 3
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(
        tf.estimator.inputs.numpy_input_fn(X, labels, batch_size=5, num_epochs=None, shuffle=True), steps=30
    )
    assert estimator.get_variable_value("w") == pytest.approx(3, abs=0.2)


def test_tables():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2, 3], "kind": ["x", "y", "x"]}, index=[5, 6, 7])
    labels = pandas.Series([0.5, 1.5, 2.5], index=[5, 6, 7])
    got = list(batches(tf.estimator.inputs.pandas_input_fn(table, labels, batch_size=2, shuffle=False)))
    assert [x["kind"].tolist() for x, _ in got] == [[b"x", b"y"], [b"x"]]
    assert [y.tolist() for _, y in got] == [[0.5, 1.5], [2.5]]
    with pytest.raises(ValueError, match="Index"):
        tf.estimator.inputs.pandas_input_fn(table, labels.reset_index(drop=True), shuffle=False)()
