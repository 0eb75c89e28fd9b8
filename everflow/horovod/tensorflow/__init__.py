"""`horovod.tensorflow`: gradients averaged over processes, and variables that begin alike in all of them."""

# ruff: noqa: F401  Names of processes and exchanges are handed on.

from __future__ import annotations

from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.horovod.adasum_optimizer import AdasumOptimizer
from everflow.horovod.exchanges import (
    Adasum,
    Average,
    Compression,
    Sum,
    allgather,
    allreduce,
    broadcast,
    reduced_gradients,
)
from everflow.horovod.keras_optimizers import distributed_optimizer
from everflow.horovod.processes import (
    ccl_built,
    ddl_built,
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
from everflow.ops.control_flow.grouping import group
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.variables.variable import global_variables
from everflow.train.optimizer import Optimizer
from everflow.train.session_run_hook import SessionRunHook


def broadcast_variables(variables, root_rank):
    """Give variables the values that they have in one process; in a graph, an operation that does."""
    made = [
        v.assign(broadcast(v.read_value(), root_rank, name=v.name.split(":")[0].replace("/", "_"))) for v in variables
    ]
    return None if executing_eagerly() else group(*made)


def broadcast_global_variables(root_rank):
    """`broadcast_variables` of all variables of the graph."""
    if executing_eagerly():
        raise RuntimeError(
            "Eager execution has no global variables: use hvd.broadcast_variables(model.variables, root_rank)"
        )
    return broadcast_variables(global_variables(), root_rank)


class BroadcastGlobalVariablesHook(SessionRunHook):
    """Gives all variables the values of one process when a session begins, from a checkpoint or at random."""

    def __init__(self, root_rank, device=""):
        self._root_rank = root_rank
        self._broadcast = None

    def begin(self):
        self._broadcast = broadcast_global_variables(self._root_rank)

    def after_create_session(self, session, coord):
        session.run(self._broadcast)


class _DistributedOptimizer(Optimizer):
    """An optimizer whose gradients are averaged over all processes."""

    def __init__(self, optimizer, name, use_locking, compression, sparse_as_dense, op):
        super().__init__(name=name or f"Distributed{type(optimizer).__name__}", use_locking=use_locking)
        self._optimizer = optimizer
        self._exchange = compression, sparse_as_dense, op

    def compute_gradients(self, *args, **kwargs):
        """(gradient, variable) of all processes together."""
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        with name_scope(f"{self._name}_Allreduce"):
            names = [f"gradient_{v.name.split(':')[0].replace('/', '_')}" for _, v in pairs]
            gradients = reduced_gradients([g for g, _ in pairs], *self._exchange, names=names)
        return [(g, v) for g, (_, v) in zip(gradients, pairs, strict=True)]


for _method in ("apply_gradients", "get_slot", "get_slot_names", "variables"):

    def _ask(self, *args, _method=_method, **kwargs):
        return getattr(self._optimizer, _method)(*args, **kwargs)

    setattr(_DistributedOptimizer, _method, _ask)


def DistributedOptimizer(
    optimizer,
    name=None,
    use_locking=False,
    device_dense="",
    device_sparse="",
    compression=Compression.none,
    sparse_as_dense=False,
    backward_passes_per_step=1,
    op=Average,
):
    """An optimizer that averages gradients over all processes before it applies them."""
    if isinstance(optimizer, Optimizer):
        if op == Adasum:
            return AdasumOptimizer(optimizer, name, use_locking, compression, backward_passes_per_step)
        if backward_passes_per_step > 1:
            raise ValueError(f"backward_passes_per_step={backward_passes_per_step} is for op=hvd.Adasum only")
        return _DistributedOptimizer(optimizer, name, use_locking, compression, sparse_as_dense, op)
    if not hasattr(optimizer, "get_gradients"):
        raise ValueError(f"An optimizer of tf.train or of Keras is wanted, not {optimizer!r}")
    if op == Adasum or backward_passes_per_step > 1:
        raise ValueError("Optimizers of Keras take neither op=hvd.Adasum nor backward_passes_per_step")
    return distributed_optimizer(optimizer, (compression, sparse_as_dense, op))


class _DistributedGradientTape(GradientTape):
    def __init__(self, tape, exchange):
        super().__init__(persistent=tape._persistent)
        self._tape, self._exchange = tape, exchange

    def __getattr__(self, name):
        return getattr(self.__dict__["_tape"], name)

    def __enter__(self):
        self._tape.__enter__()
        return self

    def __exit__(self, *exception):
        return self._tape.__exit__(*exception)

    def watch(self, tensor):
        self._tape.watch(tensor)

    def gradient(self, target, sources, output_gradients=None, **options):
        """The gradients of all processes together."""
        found = self._tape.gradient(target, sources, output_gradients, **options)
        one = not isinstance(found, (list, tuple))
        averaged = reduced_gradients([found] if one else found, *self._exchange)
        return averaged[0] if one else averaged


def DistributedGradientTape(
    gradtape, device_dense="", device_sparse="", compression=Compression.none, sparse_as_dense=False, op=Average
):
    """A tape whose gradients are averaged over all processes."""
    return _DistributedGradientTape(gradtape, (compression, sparse_as_dense, op))
