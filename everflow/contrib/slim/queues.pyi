# Made by `make stubs`.
from everflow._typing import AbstractContextManager, Any

from everflow.train import Coordinator as Coordinator
from everflow import GraphKeys as GraphKeys
class NestedQueueRunnerError(Exception):
    ...

def QueueRunners(session: Any) -> AbstractContextManager[Any]: ...
from everflow import get_collection as get_collection
