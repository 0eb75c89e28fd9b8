"""tf.profiler: how large a graph is, how many float operations it makes, and how long its nodes take."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.profiler.options import ProfileOptionBuilder
from everflow.profiler.profiler import Profiler, advise, profile, write_op_log
from everflow.protos.tfprof_log_pb2 import OpLogProto
from everflow.protos.tfprof_output_pb2 import AdviceProto, GraphNodeProto, MultiGraphNodeProto
