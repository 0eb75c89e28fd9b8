"""tf.contrib.linear_optimizer: stochastic dual coordinate ascent for linear models."""

from everflow.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer
from everflow.train.sdca_model import SdcaModel, SparseFeatureColumn

__all__ = ["SDCAOptimizer", "SdcaModel", "SparseFeatureColumn"]
