# Made by `make stubs`.

from everflow.train import QueueRunner as QueueRunner
from everflow.train import add_queue_runner as add_queue_runner
from everflow.train import start_queue_runners as start_queue_runners
