# Made by `make stubs`.
from everflow._typing import Any, ScalarLike

from everflow.train import QueueRunner as QueueRunner
from everflow.train import add_queue_runner as add_queue_runner
from everflow import name_scope as name_scope
def prefetch_queue(tensors: Any, capacity: ScalarLike | None = 8, num_threads: ScalarLike | None = 1, dynamic_pad: bool = False, shared_name: str | None = None, name: str | None = None) -> Any: ...
from everflow import queue as queue
