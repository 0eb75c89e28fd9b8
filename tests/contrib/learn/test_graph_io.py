"""Examples read from files, and graphs run by hand, as tf.contrib.learn did it."""

import numpy as np
import pytest

import everflow as tf

learn = tf.contrib.learn
FEATURES = {"age": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "people.tfrecords")
    with tf.python_io.TFRecordWriter(path) as writer:
        for age in range(6):
            example = tf.train.Example()
            example.features.feature["age"].int64_list.value.append(age)
            example.features.feature["words"].bytes_list.value.extend([b"a"] * (age % 2))
            writer.write(example.SerializeToString())
    return path


def run(fetches, times):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(fetches) for _ in range(times)]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5, ignore_live_threads=True)
    return found


def test_serialized_examples_in_order(records):
    with tf.Graph().as_default():
        batch = learn.read_batch_examples(records, 2, tf.TFRecordReader, randomize_input=False, queue_capacity=10)
        ages = tf.parse_example(batch, FEATURES)["age"]
        assert [found.tolist() for found in run(ages, 3)] == [[0, 1], [2, 3], [4, 5]]


def test_features_with_keys(records):
    with tf.Graph().as_default():
        keys, features = learn.read_keyed_batch_features(
            records, 3, FEATURES, tf.TFRecordReader, randomize_input=False, queue_capacity=10, num_enqueue_threads=1
        )
        ((names, found),) = run([keys, features], 1)
        assert sorted(found["age"].tolist()) == [0, 1, 2] and names[0].startswith(records.encode())
        assert found["words"].values.tolist() == [b"a"]


def test_records_are_shuffled_and_all_come(records):
    with tf.Graph().as_default():
        features = learn.read_batch_record_features(records, 3, FEATURES, queue_capacity=31)
        assert all(set(found["age"].tolist()) <= set(range(6)) for found in run(features, 4))


def test_what_can_not_be_read(records):
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No files match"):
            learn.read_batch_examples(records + "x", 2, tf.TFRecordReader)
        with pytest.raises(ValueError, match="queue_capacity"):
            learn.read_batch_examples(records, 2, tf.TFRecordReader, queue_capacity=2)
        with pytest.raises(ValueError, match="batch_size"):
            learn.read_batch_examples(records, 0, tf.TFRecordReader)


def squared_weight():
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    return w, tf.square(w), tf.train.create_global_step()


def test_a_graph_trained_evaluated_and_run(tmp_path):
    with tf.Graph().as_default() as graph:
        _, loss, step = squared_weight()
        train_op = tf.train.GradientDescentOptimizer(0.25).minimize(loss, step)
        with pytest.raises(ValueError, match="train_op"):
            learn.train(graph, str(tmp_path), None, loss)
        assert learn.train(graph, str(tmp_path), train_op, loss, steps=3) == pytest.approx(0.25**2)
    path = tf.train.latest_checkpoint(str(tmp_path))
    with tf.Graph().as_default() as graph:
        _, loss, _ = squared_weight()
        results, at = learn.evaluate(graph, str(tmp_path / "eval"), path, {"loss": loss}, max_steps=1)
        assert at == 3 and results["loss"] == pytest.approx(0.125**2)
    with tf.Graph().as_default():
        w, _, _ = squared_weight()
        assert [found["w"] for found in learn.run_n({"w": w}, n=2, restore_checkpoint_path=path)] == [0.125, 0.125]
    with tf.Graph().as_default():
        w, _, _ = squared_weight()
        assert learn.infer(path, {"w": w}) == {"w": 0.125}
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        assert [found["y"] for found in learn.run_feeds({"y": x * 2}, [{x: 1.0}, {x: 2.0}])] == [2.0, 4.0]


def test_logistic_regressor():
    x = np.float32([[0.0], [1.0], [2.0], [3.0]])

    def model_fn(features, labels, mode):
        logits = tf.contrib.layers.fully_connected(features, 1, activation_fn=None)
        loss = tf.losses.sigmoid_cross_entropy(labels, logits)
        train_op = tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.5, "SGD")
        return tf.sigmoid(logits), loss, train_op

    def input_fn():
        return tf.constant(x), tf.constant([[0], [0], [1], [1]])

    estimator = learn.LogisticRegressor(model_fn, thresholds=[0.5])
    estimator.fit(input_fn=input_fn, steps=200)
    results = estimator.evaluate(input_fn=input_fn, steps=1)
    assert results["accuracy/threshold_0.500000_mean"] == 1 and results["auc"] == pytest.approx(1, abs=1e-4)


def test_kmeans():
    points = np.float32([[0, 0], [0, 1], [9, 9], [9, 10]])
    estimator = learn.KMeansClustering(2, initial_clusters=np.float32([[0, 0], [9, 9]]), use_mini_batch=False)

    def input_fn():
        return tf.constant(points), None

    estimator.fit(input_fn=input_fn, steps=3)
    np.testing.assert_allclose(estimator.clusters(), [[0.0, 0.5], [9.0, 9.5]], atol=1e-5)
    assert list(estimator.predict_cluster_idx(input_fn=input_fn)) == [0, 0, 1, 1]
    assert estimator.score(input_fn=input_fn, steps=1) == pytest.approx(1.0)
    assert estimator.transform(input_fn=input_fn).shape == (4, 2)
