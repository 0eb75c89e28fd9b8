"""tf.contrib.tpu: tf.tpu, what feeds TPUs, and the estimators of programs written for them, run on a CPU or GPU."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.tpu.keras_support import TPUDistributionStrategy, keras_to_tpu_model
from everflow.estimator.tpu import InputPipelineConfig, RunConfig, TPUConfig, TPUEstimator, TPUEstimatorSpec
from everflow.estimator.tpu.estimator import export_estimator_savedmodel
from everflow.ops.tpu.functions import (
    cross_replica_sum,
    infeed_dequeue,
    infeed_dequeue_tuple,
    infeed_enqueue,
    infeed_enqueue_tuple,
    outfeed_dequeue,
    outfeed_dequeue_tuple,
    outfeed_enqueue,
    outfeed_enqueue_tuple,
)
from everflow.tpu.async_checkpoint import AsyncCheckpointSaverHook
from everflow.tpu.bfloat16 import bfloat16_scope
from everflow.tpu.context import outside_compilation
from everflow.tpu.cross_shard import CrossShardOptimizer
from everflow.tpu.device_assignment import DeviceAssignment, device_assignment
from everflow.tpu.feeds import InfeedQueue
from everflow.tpu.loops import repeat, while_loop
from everflow.tpu.replication import replicate, rewrite
from everflow.tpu.sharding import batch_parallel, shard
from everflow.tpu.system import core, initialize_system, shutdown_system
from everflow.tpu.topology import Topology
