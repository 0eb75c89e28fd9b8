"""Wrappers around optimizers: moving averages of the weights, clipping of the weights, skipping all-zero gradients."""

from __future__ import annotations

import contextlib

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.opt.wrapping import WrappingOptimizer
from everflow.framework.composites import IndexedSlices
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, control_dependencies, name_scope
from everflow.ops import array
from everflow.ops.control_flow import cond, grouping
from everflow.ops.math import clip, count_nonzero, equal
from everflow.ops.variables import assign as state
from everflow.ops.variables import variable as variables
from everflow.platform import logging
from everflow.train import Saver
from everflow.train.moving_averages import ExponentialMovingAverage
from everflow.train.optimizer import Optimizer


class MovingAverageOptimizer(WrappingOptimizer):
    """Trains with another optimizer and keeps moving averages, which `swapping_saver` saves in the weights' place."""

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        super().__init__(opt, use_locking=False, name="MovingAverage")
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map = None
        self._sequential_update = sequential_update

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = list(grads_and_vars)
        train_op = self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        var_list = [v for g, v in grads_and_vars if g is not None]
        with control_dependencies([train_op]) if self._sequential_update else contextlib.nullcontext():
            average_op = self._ema.apply(var_list)
        swaps = {}
        for v in var_list:
            average = self._ema.average(v)
            swaps[v.op.name] = average.op.name
            swaps[average.op.name] = v.op.name
        self._swapped_variable_name_map = swaps
        return grouping.group(train_op, average_op, name="train_with_avg")

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that stores the averages under the weights' names, and the weights under the averages'."""
        if self._swapped_variable_name_map is None:
            raise RuntimeError("There are no averages to save yet: call minimize() or apply_gradients() first")
        if var_list is None:
            var_list = variables.global_variables()
        if not isinstance(var_list, dict):
            var_list = {v.op.name: v for v in var_list}
        by_name = {v.op.name: v for v in var_list.values()}
        swapped = {}
        for key, v in var_list.items():
            other = self._swapped_variable_name_map.get(v.op.name)
            if other is not None:
                if other not in by_name:
                    raise ValueError(f"{v.op.name} is swapped with {other}, which var_list lacks")
                v = by_name[other]
            swapped[key] = v
        return Saver(swapped, name=name, **kwargs)

    def variables(self):
        return self._opt.variables()


class VariableClippingOptimizer(WrappingOptimizer):
    """Trains with another optimizer and clips the norm of given variables after each step."""

    def __init__(
        self,
        opt,
        vars_to_clip_dims,
        max_norm,
        use_locking=False,
        colocate_clip_ops_with_vars=False,
        name="VariableClipping",
    ):
        super().__init__(opt, use_locking, name)
        keep(self, locals(), "opt", "use_locking")

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = list(grads_and_vars)
        with name_scope(name, self._name) as name:
            update_op = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clips = []
            with control_dependencies([update_op]):
                for grad, var in grads_and_vars:
                    if grad is None or var not in self._vars_to_clip_dims:
                        continue
                    with name_scope("clip_" + var.op.name):
                        clips.append(
                            self._clip_dense(var) if isinstance(grad, Tensor) else self._clip_sparse(grad, var)
                        )
            return grouping.group(update_op, *clips, name=name)

    def _maybe_colocate_with(self, var):
        """Where the norm is found: beside the variable, or wherever the worker is."""
        return colocate_with(var.op) if self._colocate_clip_ops_with_vars else contextlib.nullcontext()

    def _clip_dense(self, var):
        with self._maybe_colocate_with(var):
            value = var.read_value()
            delta = value - clip.clip_by_norm(value, self._max_norm, self._vars_to_clip_dims[var])
        with colocate_with(var.op):
            return var.assign_sub(delta, use_locking=self._use_locking)

    def _clip_sparse(self, grad, var):
        dims = self._vars_to_clip_dims[var]
        if 0 in dims:
            logging.warning("A norm over dims %s of %s takes all rows, but gradients are sparse", dims, var.op.name)
            return self._clip_dense(var)
        with colocate_with(var.op):
            rows = array.gather(var, grad.indices)
        with self._maybe_colocate_with(var):
            delta = rows - clip.clip_by_norm(rows, self._max_norm, dims)
        with colocate_with(var.op):
            return state.scatter_sub(var, grad.indices, delta, use_locking=self._use_locking)


def _is_all_zeros(grad):
    return equal(count_nonzero(grad), 0)


class MultitaskOptimizerWrapper:
    """Makes an optimizer leave variables and slots alone where a gradient is all zeros, as in batches of another task."""

    _APPLYING = ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse")

    def __init__(self, opt):
        if not isinstance(opt, Optimizer):
            raise TypeError(f"MultitaskOptimizerWrapper wraps a tf.train.Optimizer, not a {type(opt)}")
        self._opt = opt
        for name in self._APPLYING:
            setattr(opt, name, self._guarded(getattr(opt, name)))

    @staticmethod
    def _guarded(apply):
        def guarded(grad, *args, **kwargs):
            def run():
                with control_dependencies([apply(grad, *args, **kwargs)]):
                    return grouping.no_op()

            return cond(_is_all_zeros(grad), grouping.no_op, run)

        return guarded

    def __getattr__(self, name):
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(gradients_variables, clip_norm=20.0):
    """(gradient, variable) pairs, with the gradients scaled down where their common norm is above `clip_norm`."""
    grads, found = zip(*gradients_variables, strict=True)
    present = [g.values if isinstance(g, IndexedSlices) else g for g in grads if g is not None]
    clipped, _ = clip.clip_by_global_norm(list(grads), clip_norm, use_norm=clip.global_norm(present))
    return list(zip(clipped, found, strict=True))
