"""tf.contrib.tfprof.tfprof_logger: what a graph costs, written down for the profiler."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.profiler.profiler import write_op_log
