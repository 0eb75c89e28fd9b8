# Made by `make stubs`.
from everflow import floormod as _floormod
from everflow.protos.step_stats_pb2 import StepStats as _StepStats
import everflow as _tf
from everflow._typing import Any, Callable, PathLike, ScalarLike, TensorLike

from everflow.protos.config_pb2 import RunMetadata as RunMetadata
from everflow.protos.config_pb2 import RunOptions as RunOptions
from everflow.train import Saver as Saver
from everflow.train import Supervisor as Supervisor
from everflow import Tensor as Tensor
class Timeline:
    _graph: Any
    _pids: Any
    _step_stats: Any
    _tensors: Any
    changes: Any
    def __init__(self, step_stats: _StepStats, graph: _tf.Graph | None = None) -> None: ...
    def _find_tensors(self, lanes: dict[str, list[Any]]) -> None: ...
    def _memory(self, trace: None | Any) -> dict[str, Any]: ...
    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> Any: ...
    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str: ...

from everflow.contrib.training import add_gradients_summaries as add_gradients_summaries
from everflow.contrib.training import clip_gradient_norms as clip_gradient_norms
from everflow import constant as constant
def create_train_op(total_loss: Any, optimizer: Any, global_step: TensorLike = 0, update_ops: Any = None, variables_to_train: Any = None, clip_gradient_norm: ScalarLike | None = 0, summarize_gradients: bool = False, gate_gradients: ScalarLike | None = 1, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, gradient_multipliers: Any = None, check_numerics: bool = True) -> _tf.Tensor: ...
from everflow import equal as equal
def get_default_graph() -> _tf.Graph: ...
from everflow.train import get_or_create_global_step as get_or_create_global_step
from everflow import global_variables_initializer as global_variables_initializer
from everflow import greater_equal as greater_equal
from everflow import group as group
from everflow.contrib.slim.evaluation import inserted as inserted
from everflow import local_variables_initializer as local_variables_initializer
mod = _floormod
from everflow.contrib.training import multiply_gradients as multiply_gradients
from everflow import name_scope as name_scope
from everflow.contrib.metrics import options_of as options_of
from everflow import report_uninitialized_variables as report_uninitialized_variables
from everflow import summary as summary
from everflow import tables_initializer as tables_initializer
from everflow.contrib.metrics import takes as takes
def train(train_op: Any, logdir: PathLike, train_step_fn: Callable[..., Any] | None = ..., train_step_kwargs: ScalarLike | None = 0, log_every_n_steps: Any = 1, graph: _tf.Graph | None = None, master: str | None = '', is_chief: bool = True, global_step: TensorLike | None = None, number_of_steps: Any = None, init_op: ScalarLike | None = 0, init_feed_dict: Any = None, local_init_op: ScalarLike | None = 0, init_fn: Callable[..., Any] | None = None, ready_op: ScalarLike | None = 0, summary_op: ScalarLike | None = 0, save_summaries_secs: ScalarLike | None = 600, summary_writer: ScalarLike | None = 0, startup_delay_steps: Any = 0, saver: Any = None, save_interval_secs: ScalarLike | None = 600, sync_optimizer: Any = None, session_config: Any = None, session_wrapper: Any = None, trace_every_n_steps: Any = None, ignore_live_threads: bool = False) -> Any: ...
def train_step(sess: Any, train_op: Any, global_step: TensorLike, train_step_kwargs: Any) -> tuple[Any, bool | Any]: ...
