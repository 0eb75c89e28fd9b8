"""Names inside of TensorFlow's modules for TPUs that programs look for."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow import raw_ops
from everflow.estimator.tpu.spec import TPUEstimatorSpec as _TPUEstimatorSpec
from everflow.tpu.context import COMPILATION_STATUS_MARK as _TPU_COMPILATION_STATUS_ATTR
from everflow.tpu.context import FORBIDDEN as _BLACKLISTED_OPS
from everflow.tpu.context import OUTSIDE_MARK as _OUTSIDE_COMPILATION_ATTR
from everflow.tpu.context import REPLICATE_MARK as _TPU_REPLICATE_ATTR
from everflow.tpu.context import UNSUPPORTED as _UNSUPPORTED_OPS
from everflow.tpu.context import enclosing_replication as _enclosing_tpu_context_and_graph
from everflow.tpu.device_assignment import ring_2d as _ring_2d

TPUPartitionedCall = raw_ops.function("TPUPartitionedCall", positional=True)
