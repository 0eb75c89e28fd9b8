# Made by `make stubs`.
from everflow._typing import Any, Callable, Mapping, PathLike, ScalarLike

from everflow.train import Saver as Saver
from everflow.train import Scaffold as Scaffold
from everflow.contrib.training import StopAfterNEvalsHook as StopAfterNEvalsHook
from everflow.contrib.training import SummaryAtEndHook as SummaryAtEndHook
from everflow.train import checkpoints_iterator as checkpoints_iterator
def evaluate_once(master: Any, checkpoint_path: Any, logdir: PathLike, num_evals: ScalarLike | None = 1, initial_op: Any = None, initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None, final_op: Any = None, final_op_feed_dict: Any = None, summary_op: ScalarLike | None = 0, summary_op_feed_dict: Any = None, variables_to_restore: Any = None, session_config: Any = None, hooks: Any = None) -> Any: ...
def evaluation_loop(master: Any, checkpoint_dir: Any, logdir: PathLike, num_evals: ScalarLike | None = 1, initial_op: Any = None, initial_op_feed_dict: Any = None, init_fn: Callable[..., Any] | None = None, eval_op: Any = None, eval_op_feed_dict: Any = None, final_op: Any = None, final_op_feed_dict: Any = None, summary_op: ScalarLike | None = 0, summary_op_feed_dict: Any = None, variables_to_restore: Any = None, eval_interval_secs: ScalarLike | None = 60, max_number_of_evaluations: Any = None, session_config: Any = None, timeout: Any = None, timeout_fn: Callable[..., Any] | None = None, hooks: Any = None) -> Any: ...
def inserted(listed: Mapping[str, Any], **after: Mapping[str, Any]) -> dict[str, Any]: ...
def optional(words: str, **defaults: Any) -> dict[str, Any]: ...
from everflow import summary as summary
from everflow.contrib.metrics import takes as takes
from everflow.contrib.training import wait_for_new_checkpoint as wait_for_new_checkpoint
