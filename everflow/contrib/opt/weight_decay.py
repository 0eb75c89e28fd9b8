"""Decoupled weight decay: weights shrink before each update, instead of a term in the loss."""

from __future__ import annotations

import functools

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array
from everflow.ops.control_flow import grouping
from everflow.ops.variables import assign as state
from everflow.platform.signatures import options_of, takes
from everflow.train.adam import AdamOptimizer
from everflow.train.gradient_descent import MomentumOptimizer
from everflow.train.optimizer import Optimizer


class DecoupledWeightDecayExtension:
    """Put before an optimizer class among a class's bases, adds weight decay to it; see `AdamWOptimizer`."""

    _decay_var_list = _weight_decay_tensor = None

    def __init__(self, weight_decay, **kwargs):
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    @takes(Optimizer.minimize)
    def minimize(self, loss, *, decay_var_list=None, **given):
        """As the optimizer's; forgets `decay_var_list`, which counts in `apply_gradients`, as TensorFlow 1.15 does."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().minimize(loss, **given)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """As the optimizer's; only `decay_var_list` decays where it is given."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self):
        self._weight_decay_tensor = convert_to_tensor(self._call_if_callable(self._weight_decay), name="weight_decay")
        super()._prepare()

    def _decays(self, var):
        return self._decay_var_list is None or var in self._decay_var_list

    def _decay_weights_op(self, var):
        if self._decays(var):
            return var.assign_sub(self._call_if_callable(self._weight_decay) * var, self._use_locking)
        return grouping.no_op()

    def _decay_weights_sparse_op(self, var, indices, scatter_add):
        if self._decays(var):
            return scatter_add(var, indices, -self._call_if_callable(self._weight_decay) * array.gather(var, indices))
        return grouping.no_op()

    def _apply_dense(self, grad, var):
        with control_dependencies([self._decay_weights_op(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        with control_dependencies([self._decay_weights_op(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        add = functools.partial(state.scatter_add, use_locking=self._use_locking)
        decay = self._decay_weights_sparse_op(var, grad.indices, add)
        with control_dependencies([decay]):
            return super()._apply_sparse(grad, var)

    def _resource_scatter_add(self, x, i, v):
        with control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _resource_apply_sparse(self, grad, var, indices):
        with control_dependencies([self._decay_weights_sparse_op(var, indices, self._resource_scatter_add)]):
            return super()._resource_apply_sparse(grad, var, indices)


def extend_with_decoupled_weight_decay(base_optimizer):
    """A class like `base_optimizer` whose first argument is a weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """Base optimizer with decoupled weight decay."""

        def __init__(self, weight_decay, *args, **kwargs):
            # The extension takes keywords only; positional arguments are the base optimizer's.
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with decoupled weight decay."""

    @takes(options_of(MomentumOptimizer.__init__, name="MomentumW"))
    def __init__(self, weight_decay, learning_rate, momentum, **given):
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum, **given)


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with decoupled weight decay."""

    @takes(options_of(AdamOptimizer.__init__, name="AdamW"))
    def __init__(self, weight_decay, **given):
        super().__init__(weight_decay, **given)
