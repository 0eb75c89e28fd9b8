"""`tfe.Saver`: checkpoints by variables' names without a session, and variables that take their first value from one."""

from __future__ import annotations

import contextlib

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework.errors import NotFoundError
from everflow.ops.variables import resource as resource_variables
from everflow.train.optimizer import Optimizer
from everflow.train.saver import Saver as TrainSaver


class Saver:
    """Saves and restores variables by name: a list of them, or a dict from names in the file.

    >>> path = tfe.Saver([v, w]).save("/tmp/model", global_step=3)
    """

    def __init__(self, var_list):
        self._saver = TrainSaver(var_list)

    def save(self, file_prefix, global_step=None):
        """Write a checkpoint `file_prefix` (with `-global_step` added); returns its path."""
        return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix):
        """Give the variables the values of a checkpoint."""
        self._saver.restore(None, file_prefix)


@contextlib.contextmanager
def restore_variables_on_create(save_path, map_func=None):
    """A context in which variables begin with a checkpoint's values of their names, which `map_func` changes."""
    if not save_path:
        yield
        return
    reader = open_checkpoint(save_path)

    def value_for(name):
        name = name if map_func is None else map_func(name)
        if not reader.has(name):
            raise NotFoundError(None, None, f"{name} not found in checkpoint")
        return reader.read(name)

    with resource_variables.initial_values_from(value_for):
        yield


def get_optimizer_variables(optimizer: Optimizer):
    """The variables that an optimizer made."""
    return optimizer.variables()
