"""tf.contrib.tpu: the estimators of programs written for TPUs, run on a CPU or GPU."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.tpu.cross_shard import CrossShardOptimizer
from everflow.estimator.tpu import InputPipelineConfig, RunConfig, TPUConfig, TPUEstimator, TPUEstimatorSpec
