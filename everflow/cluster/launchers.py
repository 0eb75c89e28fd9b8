"""What torchrun, and all that starts torch programs alike (Slurm, Kubernetes, Ray), says to a process of its place: made into
TF_CONFIG, which everything here reads.
"""

from __future__ import annotations

import json
import os
import socket

from everflow.platform.trust import listener

_WANTED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def adopt_torchrun() -> None:
    """Set TF_CONFIG where torchrun has started several processes and nobody has set it.

    The processes tell each other on which ports their servers will be.
    """
    environment = os.environ
    if environment.get("TF_CONFIG") or any(not environment.get(name) for name in _WANTED):
        return
    rank, size = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    if size == 1:
        return
    from everflow.kernels.process_group import Store  # loads torch

    store = Store.of_environment()
    round_ = environment.get("TORCHELASTIC_RESTART_COUNT", "0")  # those that are started again have new ports
    on_one_machine = environment.get("LOCAL_WORLD_SIZE") == environment["WORLD_SIZE"]
    host = "localhost" if on_one_machine else socket.gethostname()
    with listener(host) as held:
        store.tell(f"everflow/{round_}/{rank}", f"{host}:{held.getsockname()[1]}")
        addresses = [store.told(f"everflow/{round_}/{i}") for i in range(size)]
    task = {"type": "worker", "index": rank}
    environment["TF_CONFIG"] = json.dumps({"cluster": {"worker": addresses}, "task": task})
