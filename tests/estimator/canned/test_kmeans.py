"""The k-means estimators; the numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import everflow as tf

rs = np.random.RandomState(0)
POINTS = np.concatenate([rs.randn(30, 3) + c for c in (0, 5, -5)]).astype("f")


def once():
    return tf.train.limit_epochs(tf.convert_to_tensor(POINTS, dtype=tf.float32), num_epochs=1)


@pytest.mark.parametrize("cls", [tf.estimator.experimental.KMeans, tf.contrib.factorization.KMeansClustering])
def test_each_training_is_an_iteration(cls, tmp_path):
    kmeans = cls(
        3, str(tmp_path), "random", "squared_euclidean", 1, False, config=tf.estimator.RunConfig(tf_random_seed=1)
    )
    scores = []
    for _ in range(3):
        kmeans.train(once)
        scores.append(kmeans.score(once))
    assert scores == pytest.approx([2749.3694, 667.055, 249.078], rel=1e-5)
    np.testing.assert_allclose(kmeans.cluster_centers()[0], [0.1297, 0.1390, -0.2490], atol=1e-4)
    assert list(kmeans.predict_cluster_index(once))[::10] == [0, 0, 0, 2, 2, 2, 1, 1, 1]
    distances = next(kmeans.transform(once))
    squared = cls is tf.contrib.factorization.KMeansClustering
    np.testing.assert_allclose(distances, [4.247, 116.954, 52.018] if squared else [2.061, 10.815, 7.212], rtol=1e-3)


def test_training_stops_when_little_changes(tmp_path):
    kmeans = tf.estimator.experimental.KMeans(
        3, str(tmp_path), "kmeans_plus_plus", use_mini_batch=False, relative_tolerance=0.5, feature_columns=[tf.feature_column.numeric_column("p", [3])]
    )  # fmt: skip
    kmeans.train(lambda: {"p": tf.constant(POINTS)}, steps=100)
    assert kmeans.get_variable_value("global_step") < 10


def test_what_there_is_not():
    with pytest.raises(ValueError, match="initialization algorithm 'x'"):
        tf.estimator.experimental.KMeans(3, initial_clusters="x")
    with pytest.raises(ValueError, match="distance metric 'x'"):
        tf.estimator.experimental.KMeans(3, distance_metric="x")
