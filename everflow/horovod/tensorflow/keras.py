"""`horovod.keras` and `horovod.tensorflow.keras`: Keras's optimizers, models and callbacks for several processes."""

# ruff: noqa: F401  Names of processes and exchanges are handed on.

from __future__ import annotations

import numpy as np

from everflow.framework.scopes import executing_eagerly
from everflow.horovod import callbacks, exchanges
from everflow.horovod.exchanges import Average, Compression, Sum, reduced_gradients
from everflow.horovod.processes import (
    gloo_built,
    gloo_enabled,
    init,
    is_initialized,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    shutdown,
    size,
)
from everflow.horovod.tensorflow import broadcast_global_variables as _broadcast_all
from everflow.keras import backend as K
from everflow.keras import models, optimizers


def _distributed(kind, exchange):
    """A class of optimizers whose gradients are averaged over all processes; it keeps its name, for files."""

    def get_gradients(self, loss, params):
        found = super(made, self).get_gradients(loss, params)
        names = [f"gradient_{p.name.split(':')[0].replace('/', '_')}" for p in params]
        return reduced_gradients(found, *exchange, names=names)

    def apply_gradients(self, grads_and_vars, name=None):
        pairs = list(grads_and_vars)
        if executing_eagerly():  # where nobody has asked `get_gradients`
            found = reduced_gradients([g for g, _ in pairs], *exchange)
            pairs = [(g, v) for g, (_, v) in zip(found, pairs, strict=True)]
        return super(made, self).apply_gradients(pairs, name)

    made = type(kind.__name__, (kind,), {"get_gradients": get_gradients, "apply_gradients": apply_gradients})
    return made


def DistributedOptimizer(
    optimizer, name=None, device_dense="", device_sparse="", compression=Compression.none, sparse_as_dense=False
):
    """An optimizer of Keras that averages gradients over all processes before it applies them."""
    made = _distributed(type(optimizer), (compression, sparse_as_dense))
    return made.from_config(optimizer.get_config())


def broadcast_global_variables(root_rank):
    """Give all variables the values that they have in one process."""
    with K.get_graph().as_default():
        K.get_session().run(_broadcast_all(root_rank))


def _evaluated(tensor):
    return tensor.numpy() if executing_eagerly() else K.get_session().run(tensor)


def allreduce(value, name=None, average=True):
    """The mean or sum of an array over all processes, as an array."""
    return _evaluated(exchanges.allreduce(np.asarray(value), average, name=name or "allreduce of an array"))


def allgather(value, name=None):
    """The rows of all processes' arrays, one after the other."""
    return _evaluated(exchanges.allgather(np.asarray(value), name=name or "allgather of an array"))


def broadcast(value, root_rank, name=None):
    """The array of one process, for all of them."""
    return _evaluated(exchanges.broadcast(np.asarray(value), root_rank, name=name or "broadcast of an array"))


def load_model(filepath, custom_optimizers=None, custom_objects=None, compression=Compression.none):
    """A saved model, whose optimizer averages gradients over all processes from now on."""
    kinds = [k for k in vars(optimizers).values() if isinstance(k, type) and issubclass(k, optimizers.Optimizer)]
    known = {}
    for kind in [*kinds, *(custom_optimizers or ())]:
        known[kind.__name__] = known[kind.__name__.lower()] = _distributed(kind, (compression, False))
    return models.load_model(filepath, custom_objects={**known, **(custom_objects or {})})
