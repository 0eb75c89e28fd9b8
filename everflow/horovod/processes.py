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
    """Meet the other processes. Begin with this."""
    if comm is not None:
        raise NotImplementedError("`init` takes no communicator of MPI: all processes are one group")
    if _here.is_initialized:
        return
    _here.rank, _here.size, _here.local_rank, _here.local_size = _place()
    if _here.size > 1:
        if not (os.environ.get("MASTER_ADDR") and os.environ.get("MASTER_PORT")):
            raise ValueError(
                f"{_here.size} processes were started, and nobody says where they meet: start them with "
                "`everflow launch -n` or torchrun, or set MASTER_ADDR and MASTER_PORT to a free port of the first one's host"
            )
        on_one_machine = _here.local_size == _here.size
        round_ = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = Store.of_environment().part(f"horovod/{round_}")
        host = "localhost" if on_one_machine else os.uname().nodename
        _here.group = ProcessGroup(store, _here.rank, _here.size, host)
        join(GROUP_KEY, _here.group)
    _here.is_initialized = True
    atexit.register(shutdown)


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
