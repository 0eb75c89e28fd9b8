"""What torchrun says of a process's place becomes TF_CONFIG."""

import json
import os
import socket
import subprocess
import sys

from everflow.cluster.launchers import adopt_torchrun

PROGRAM = """
import os
from everflow.cluster.launchers import adopt_torchrun
adopt_torchrun()
print(os.environ["TF_CONFIG"])
"""


def _environment(rank, port):
    return {
        "RANK": str(rank),
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": port,
    }


def test_processes_tell_each_other_their_addresses():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**environment, **_environment(rank, port)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    first, second = (json.loads(process.communicate(timeout=120)[0]) for process in started)
    assert first["cluster"] == second["cluster"] and len(set(first["cluster"]["worker"])) == 2
    assert second["task"] == {"type": "worker", "index": 1}
    assert all(address.startswith("localhost:") for address in first["cluster"]["worker"])


def test_nothing_is_made_up(monkeypatch):
    for name in ("TF_CONFIG", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    adopt_torchrun()
    assert "TF_CONFIG" not in os.environ
    for name, value in _environment(0, "1").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WORLD_SIZE", "1")
    adopt_torchrun()
    assert "TF_CONFIG" not in os.environ
