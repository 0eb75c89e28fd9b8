"""The base of optimizers around another one, which finds the gradients and keeps the slots."""

from __future__ import annotations

from everflow.train.optimizer import Optimizer


class WrappingOptimizer(Optimizer):
    """Hands on to the optimizer inside, `_opt`, what a subclass does not change."""

    def __init__(self, opt, use_locking, name):
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args, **kwargs):
        """The gradients of the optimizer inside."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, var, name):
        """A slot of the optimizer inside."""
        return self._opt.get_slot(var, name)

    def get_slot_names(self):
        """The names of the slots of the optimizer inside."""
        return self._opt.get_slot_names()
