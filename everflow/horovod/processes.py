"""The processes of a program: which of them this is, and how they meet. `horovod.tensorflow.init()` and what tells of it."""

from __future__ import annotations

import atexit
import hashlib
import os

from everflow.kernels.exchange import join, leave
from everflow.kernels.process_group import ProcessGroup, Store, reduced_array

# No strategy's group has such a key.
GROUP_KEY = -1
# Who starts processes says in words of its own what they are: rank, size, and the same within a machine.
_LAUNCHERS = (
    ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
    ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
)


class _Here:
    """This process among the others, once `init` was called."""

    def __init__(self) -> None:
        self.is_initialized = False
        self.rank, self.size, self.local_rank, self.local_size = 0, 1, 0, 1
        self.group: ProcessGroup | None = None
        self.store: Store | None = None  # of the group, where this process made it


_here = _Here()


def _place() -> tuple[int, int, int, int]:
    for rank, size, local_rank, local_size in _LAUNCHERS:
        if os.environ.get(rank) and os.environ.get(size):
            everywhere = int(os.environ[rank]), int(os.environ[size])
            return *everywhere, *(
                int(os.environ.get(n, d)) for n, d in zip((local_rank, local_size), everywhere, strict=True)
            )
    return 0, 1, 0, 1


def init(comm=None) -> None:
    """Meet the other processes. Begin with this.

    `comm` chooses some of them: the ranks of those that meet, or a communicator of mpi4py.
    """
    if _here.is_initialized:
        return
    if hasattr(comm, "Get_rank"):
        _meet_by_mpi(comm)
    else:
        _meet(comm)
    if _here.group is not None:
        join(GROUP_KEY, _here.group)
        if os.environ.get("EVERFLOW_LAUNCH"):  # Horovod's programs have no cluster, and an Estimator must not see one
            os.environ.pop("TF_CONFIG", None)
    _here.is_initialized = True
    atexit.register(shutdown)


def _meet(ranks) -> None:
    """Meet all processes that were started, or those of some ranks, where their launcher says."""
    rank, size, local_rank, local_size = _place()
    on_one_machine = local_size == size
    ranks = list(range(size)) if ranks is None or not len(ranks) else [int(r) for r in ranks]
    if rank not in ranks or len(set(ranks)) < len(ranks) or max(ranks) >= size:
        raise ValueError(f"comm={ranks} must be different ranks below {size}, with this process's own, {rank}")
    if len(ranks) < size:
        local_rank, local_size = (ranks.index(rank), len(ranks)) if on_one_machine else (0, 1)
    _here.rank, _here.size, _here.local_rank, _here.local_size = ranks.index(rank), len(ranks), local_rank, local_size
    if _here.size == 1:
        return
    if not (os.environ.get("MASTER_ADDR") and os.environ.get("MASTER_PORT")):
        raise ValueError(
            f"{size} processes were started, and nobody says where they meet: start them with "
            "`everflow launch -n` or torchrun, or set MASTER_ADDR and MASTER_PORT to a free port of the first one's host"
        )
    round_ = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    part = "all" if len(ranks) == size else ".".join(map(str, ranks))
    host = "localhost" if on_one_machine else os.uname().nodename
    _here.group = ProcessGroup(Store.of_environment().part(f"horovod/{round_}/{part}"), _here.rank, _here.size, host)


def _meet_by_mpi(comm) -> None:
    """Meet the processes of a communicator, which also says on which machines they are."""
    _here.rank, _here.size = comm.Get_rank(), comm.Get_size()
    if _here.size == 1:
        return
    hosts = comm.allgather(os.uname().nodename)
    mine = [r for r, host in enumerate(hosts) if host == hosts[_here.rank]]
    _here.local_rank, _here.local_size = mine.index(_here.rank), len(mine)
    host = "localhost" if len(mine) == _here.size else hosts[_here.rank]
    store = Store.serve(host) if _here.rank == 0 else None
    address = comm.bcast(store.address if store is not None else None, root=0)
    _here.store = store or Store.at(address)
    _here.group = ProcessGroup(_here.store.part("horovod"), _here.rank, _here.size, host)


def shutdown() -> None:
    """Leave the others."""
    if _here.group is not None and not _here.group.is_broken:
        _here.group.close()
    leave(GROUP_KEY)
    _here.__init__()


def is_initialized() -> bool:
    """Whether `init` was called."""
    return _here.is_initialized


def _told(name: str):
    def tell() -> int:
        if not _here.is_initialized:
            raise ValueError("Horovod has not been initialized; use hvd.init().")
        return getattr(_here, name)

    tell.__name__ = name
    tell.__doc__ = {
        "rank": "Which of all processes this is.",
        "size": "How many processes there are.",
        "local_rank": "Which of the processes on this machine this is.",
        "local_size": "How many processes this machine has.",
    }[name]
    return tell


rank, size, local_rank, local_size = map(_told, ("rank", "size", "local_rank", "local_size"))


def key_of(name: str) -> int:
    """The key under which processes meet for what they call by the same name."""
    return int.from_bytes(hashlib.sha1(name.encode()).digest()[:7], "big")


def mean_array(name: str, array):
    """The mean of numpy arrays over all processes."""
    return array if _here.group is None else reduced_array(_here.group, key_of(name), array) / size()


def mpi_threads_supported() -> bool:
    """Whether MPI may be called from several threads: there is none."""
    return False


def mpi_enabled() -> bool:
    return False


def mpi_built() -> bool:
    return False


def gloo_enabled() -> bool:
    return True


def gloo_built() -> bool:
    return True


def nccl_built() -> bool:
    return False


def ddl_built() -> bool:
    return False


def ccl_built() -> bool:
    return False
