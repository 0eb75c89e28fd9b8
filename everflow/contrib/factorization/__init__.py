"""tf.contrib.factorization: k-means, mixtures of Gaussians, and factors of sparse matrices."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.factorization.factorization_ops import WALSModel
from everflow.contrib.factorization.gmm import GMM
from everflow.contrib.factorization.gmm_ops import GmmAlgorithm, gmm
from everflow.contrib.factorization.wals import WALSMatrixFactorization
from everflow.estimator.canned.kmeans import KMeansClustering
from everflow.ops.clustering import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
