"""Adagrad whose accumulators can be left alone for a while, so that regularization gradients don't count in them."""

from __future__ import annotations

import contextlib

from everflow.train.adaptive import AdagradOptimizer


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad with a context in which updates leave the slots as they are.

    >>> with opt.avoid_updating_slots():
    ...     update = opt.apply_gradients(regularization_gradients)
    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="RegAdagrad"):
        super().__init__(learning_rate, initial_accumulator_value, use_locking=use_locking, name=name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self):
        """A context in which `apply_gradients` doesn't change the accumulators."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _rule_attributes(self):
        return {"update_slots": self._should_update_slots}
