"""tf.estimator.tpu: estimators of programs written for TPUs, run on a CPU or GPU."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.estimator.tpu import experimental
from everflow.estimator.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
from everflow.estimator.tpu.estimator import TPUEstimator
from everflow.estimator.tpu.spec import TPUEstimatorSpec
