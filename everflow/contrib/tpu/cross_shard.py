"""`CrossShardOptimizer`: the optimizer of a model that runs in several copies, one on each core of a TPU."""

from everflow.contrib.opt.wrapping import WrappingOptimizer
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with
from everflow.losses import Reduction
from everflow.platform import logging


class CrossShardOptimizer(WrappingOptimizer):
    """Sums gradients over the copies of a model before another optimizer applies them.

    Graphs with it can be drawn and saved anywhere; its sums run on TPUs only.
    """

    def __init__(self, opt, reduction=Reduction.MEAN, name="CrossShardOptimizer", group_assignment=None):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(opt, False, name)
        self._group_assignment = group_assignment

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """The wrapped optimizer's gradients."""
        # A mean would divide by the number of copies, of which there is one off a TPU.
        logging.warning("CrossShardOptimizer: off a TPU there is one copy of the model")
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Apply the sums of the gradients over all copies."""
        summed = [(grad if grad is None else self._sum(grad), var) for grad, var in grads_and_vars]
        return self._opt.apply_gradients(summed, global_step, name)

    def _sum(self, grad):
        groups = self._group_assignment if self._group_assignment is not None else [[0]]
        with colocate_with(grad):
            return raw.CrossReplicaSum(input=grad, group_assignment=groups)

    def variables(self):
        """The wrapped optimizer's variables."""
        return self._opt.variables()
