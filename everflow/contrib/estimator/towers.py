"""`replicate_model_fn` and `TowerOptimizer`, by which programs spread a batch over GPUs.

The model is drawn once, over the whole batch, on the first device: the mean (or sum) of towers' losses over shares of a
batch is the loss of the batch, so training is the same.
"""

from __future__ import annotations

import weakref

from everflow.config.experimental import list_physical_devices
from everflow.contrib.opt.wrapping import WrappingOptimizer
from everflow.estimator.arguments import check_model_fn, fn_args, named
from everflow.framework.scopes import device, get_default_graph
from everflow.losses import Reduction
from everflow.platform import logging
from everflow.train.optimizer import Optimizer


def replicate_model_fn(model_fn, loss_reduction=Reduction.SUM_BY_NONZERO_WEIGHTS, devices=None):
    """A model function for several devices; it runs on the first one."""
    if loss_reduction == Reduction.NONE:
        raise ValueError("Tower losses need to be reduced in some way, yet Reduction.NONE was given.")
    check_model_fn(model_fn, None)
    devices = devices or [f"/device:GPU:{i}" for i, _ in enumerate(list_physical_devices("GPU"))] or ["/device:CPU:0"]
    if len(devices) > 1:
        message = "The model runs on %s, over whole batches, rather than on shares of them on each of %s."
        logging.info(message, devices[0], devices)

    def single_device_model_fn(features, labels, mode, params=None, config=None):
        if "labels" not in fn_args(model_fn) and labels is not None:
            raise ValueError("The input_fn returns labels, for which the model_fn has no argument `labels`")
        with device(devices[0]):
            given = named(model_fn, labels=labels, mode=mode, params=params, config=config)
            return model_fn(features=features, **given)

    return single_device_model_fn


class TowerOptimizer(WrappingOptimizer):
    """An optimizer in a model function that `replicate_model_fn` is given; with one tower, as the one inside."""

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    # The graphs in which one applied gradients.
    _used_in: weakref.WeakSet = weakref.WeakSet()

    def __init__(self, optimizer_or_optimizer_fn):
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @property
    def _opt(self):
        """The optimizer inside, made when it is first asked for where a function makes it."""
        made = self._optimizer_or_optimizer_fn
        if not isinstance(made, Optimizer) and callable(made):
            self._optimizer_or_optimizer_fn = made = made()
        return made

    @staticmethod
    def has_been_used():
        """Whether one of this kind applied gradients in the default graph."""
        return get_default_graph() in TowerOptimizer._used_in

    def get_name(self, *args, **kwargs):
        """Its name."""
        return self._opt.get_name(*args, **kwargs)

    def variables(self, *args, **kwargs):
        """Its variables."""
        return self._opt.variables(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, **kwargs):
        """Apply gradients, as it does."""
        self._used_in.add(get_default_graph())
        return self._opt.apply_gradients(grads_and_vars, global_step=global_step, **kwargs)
