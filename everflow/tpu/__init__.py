"""tf.tpu: computations drawn for TPUs. Their graphs are TensorFlow's, node for node; running them needs a TPU."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework.lazy_names import lazy_names

if TYPE_CHECKING:
    from everflow.ops.tpu.functions import cross_replica_sum
    from everflow.tpu import experimental
    from everflow.tpu.bfloat16 import bfloat16_scope
    from everflow.tpu.context import outside_compilation
    from everflow.tpu.cross_shard import CrossShardOptimizer
    from everflow.tpu.replication import replicate, rewrite
    from everflow.tpu.sharding import batch_parallel, shard
    from everflow.tpu.system import core, initialize_system, shutdown_system

__getattr__, __dir__ = lazy_names(__name__, __file__)
