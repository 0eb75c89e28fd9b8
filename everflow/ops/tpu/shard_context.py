"""What is known of the replication around the code that draws now: the number of shards, for means over them."""

from __future__ import annotations

import contextlib
import threading


class TpuContext(threading.local):
    """The number of shards of the computation that is being drawn, or None outside of one."""

    number_of_shards = None

    def set_number_of_shards(self, number_of_shards):
        self.number_of_shards = number_of_shards


_current = TpuContext()


def get_tpu_context():
    """The context of this thread."""
    return _current


@contextlib.contextmanager
def tpu_shard_context(number_of_shards):
    """A context in which a computation for this many shards is drawn."""
    here = get_tpu_context()
    with contextlib.ExitStack() as at_end:
        if here.number_of_shards is not None:
            raise NotImplementedError("A computation for TPU shards cannot be drawn inside of another.")
        at_end.callback(here.set_number_of_shards, None)
        here.set_number_of_shards(number_of_shards)
        yield


def on_device_training_loop(func):
    """Mark a function that trains in a loop of its own: steps are then counted by its rounds."""
    func.step_marker_location = "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"
    return func
