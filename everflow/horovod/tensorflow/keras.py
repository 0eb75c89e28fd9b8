"""`horovod.keras` and `horovod.tensorflow.keras`: Keras's optimizers, models and callbacks for several processes."""

# ruff: noqa: F401  Names of processes and exchanges are handed on.

from __future__ import annotations

import numpy as np

from everflow.framework.scopes import executing_eagerly
from everflow.horovod import callbacks, exchanges
from everflow.horovod.exchanges import Average, Compression, Sum
from everflow.horovod.keras_optimizers import distributed_class, distributed_optimizer
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


def DistributedOptimizer(
    optimizer, name=None, device_dense="", device_sparse="", compression=Compression.none, sparse_as_dense=False
):
    """An optimizer of Keras that averages gradients over all processes before it applies them."""
    return distributed_optimizer(optimizer, (compression, sparse_as_dense))


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
        known[kind.__name__] = known[kind.__name__.lower()] = distributed_class(kind, (compression, False))
    return models.load_model(filepath, custom_objects={**known, **(custom_objects or {})})
