"""tensorflow.python.debug: dump the tensors of runs, look through them afterwards, at the terminal or elsewhere."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.debug.dumps import (
    DebugDumpDir,
    DebugTensorDatum,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from everflow.debug.gradients import GradientsDebugger
from everflow.debug.local_cli import LocalCLIDebugHook, LocalCLIDebugWrapperSession
from everflow.debug.remote import (
    GrpcDebugHook,
    GrpcDebugWrapperSession,
    TensorBoardDebugHook,
    TensorBoardDebugWrapperSession,
)
from everflow.debug.structure import reconstruct_non_debug_graph_def
from everflow.debug.watches import WatchOptions, add_debug_tensor_watch, watch_graph, watch_graph_with_blacklists
from everflow.debug.wrappers import DumpingDebugHook, DumpingDebugWrapperSession
