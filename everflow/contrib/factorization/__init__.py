"""tf.contrib.factorization: k-means."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.estimator.canned.kmeans import KMeansClustering
from everflow.ops.clustering import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
