"""`CrossShardOptimizer`: the optimizer of a model that runs in several copies, one on each core of a TPU."""

from __future__ import annotations

import collections

from everflow.framework.scopes import colocate_with
from everflow.losses import Reduction
from everflow.ops.tpu.functions import cross_replica_sum
from everflow.ops.tpu.shard_context import get_tpu_context
from everflow.platform import logging
from everflow.train.optimizer import Optimizer


class CrossShardOptimizer(Optimizer):
    """Sums gradients over the copies of a model before another optimizer applies them; for a mean the loss is divided
    by their number first.
    """

    def __init__(self, opt, reduction=Reduction.MEAN, name="CrossShardOptimizer", group_assignment=None):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Gradients of shards can be added or averaged, not reduced by {reduction!r}.")
        if hasattr(opt, "get_updates") and not isinstance(opt, Optimizer):
            raise TypeError(f"CrossShardOptimizer wraps optimizers of tf.train, not of Keras: {opt!r}.")
        super().__init__(False, name)
        self._opt = opt
        self._reduction = reduction
        self._group_assignment = group_assignment

    def _copies(self, shards):
        """Over how many copies gradients are added."""
        if self._group_assignment is None:
            return shards
        if not isinstance(self._group_assignment, (list, tuple)) or not all(
            isinstance(group, (list, tuple)) for group in self._group_assignment
        ):
            raise TypeError(f"group_assignment is a list of lists of shards, not {self._group_assignment}.")
        members = collections.Counter(i for group in self._group_assignment for i in group)
        sizes = {len(group) for group in self._group_assignment}
        if members != collections.Counter(range(shards)):
            raise ValueError(f"group_assignment must have each of {shards} shards once, not {self._group_assignment}.")
        if len(sizes) > 1:
            raise ValueError(f"Groups of shards must be of one size, not {self._group_assignment}.")
        return sizes.pop()

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """The wrapped optimizer's gradients, of the loss over the number of copies for a mean."""
        shards = get_tpu_context().number_of_shards
        if shards is None:
            logging.warning("CrossShardOptimizer is used outside of a computation for TPU shards: one shard is taken")
            shards = 1
        copies = self._copies(shards)
        if shards > 1 and self._reduction == Reduction.MEAN:
            loss *= 1.0 / copies
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Apply the sums of the gradients over all copies."""
        summed = []
        for grad, var in grads_and_vars:
            if grad is not None:
                with colocate_with(grad):
                    grad = cross_replica_sum(grad, self._group_assignment)
            summed.append((grad, var))
        return self._opt.apply_gradients(summed, global_step, name)

    def get_slot(self, *args, **kwargs):
        """A slot of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The names of the slots of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        """The wrapped optimizer's variables."""
        return self._opt.variables()
