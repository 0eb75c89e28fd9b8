# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any

from everflow.contrib.tfprof import ProfileContext as ProfileContext
from everflow.profiler import ProfileOptionBuilder as ProfileOptionBuilder
from everflow.profiler import Profiler as Profiler
from everflow.profiler import advise as advise
def print_model_analysis(graph: _tf.Graph, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str | None = 'scope', tfprof_options: Any = ...) -> Any: ...
from everflow.profiler import profile as profile
