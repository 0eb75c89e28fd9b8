"""Python processes that start with the package and torch imported: pages and the commands in them are many, and importing
takes each of them longer than what it runs.

`python -m docsite.warm SOCKET` imports once and then forks a process for every request that comes through the socket.
Nothing is computed before the fork, so there are no threads yet that a child would miss.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

# Where processes find the socket; without it they start others in the usual way.
VARIABLE = "DOCSITE_WARM"
_LONGEST_REQUEST = 1 << 20


def python(arguments: Sequence[str], env: Mapping[str, str], output: int, timeout: float | None = None) -> int:
    """Run `python ARGUMENTS` in this folder and give its exit code; both its outputs go to the file descriptor `output`.

    Where `env` names the socket, the process is a fork of the one that answers there.
    """
    if VARIABLE not in env:
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=env, stdout=output, stderr=subprocess.STDOUT, timeout=timeout).returncode
    request = json.dumps({"arguments": list(arguments), "cwd": os.getcwd(), "env": dict(env)}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(timeout)
        connection.connect(env[VARIABLE])
        socket.send_fds(connection, [request], [output])
        answer = connection.recv(64)
    if not answer:
        raise RuntimeError(f"the process of {' '.join(arguments)} could not be started or waited for")
    return int(answer)


@contextlib.contextmanager
def served(path: str, env: Mapping[str, str]) -> Iterator[None]:
    """While this is open, requests through the socket at `path` are answered; its processes have `env` from the start."""
    # A session of its own, so that what was started by it can be ended with it.
    command = [sys.executable, "-m", "docsite.warm", path]
    server = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, start_new_session=True)
    try:
        while not os.path.exists(path):
            if server.poll() is not None:
                raise RuntimeError(f"docsite.warm ended with {server.returncode}")
            time.sleep(0.02)
        yield
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.communicate()


def _job(path: str) -> list[str]:
    """Answer requests until standard input ends, as it does with the process that started this one. Every fork returns
    from here, with what it shall run, its outputs and folder in place.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        # Whoever finds the socket can connect to it.
        listener.bind(path + ".new")
        listener.listen()
        os.rename(path + ".new", path)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks for the ends of those who answer
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                break
            connection.close()
        else:
            sys.exit()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    text, (output,), _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 1)
    job = os.fork()
    if job:
        _, status = os.waitpid(job, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    connection.close()
    request = json.loads(text)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    return request["arguments"]


def _run(arguments: list[str]) -> None:
    """What `python ARGUMENTS` does with `-m MODULE ...` or `SCRIPT ...`."""
    if arguments[0] == "-m":
        sys.argv, sys.path[0] = arguments[1:], os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def main() -> None:
    for module in ("train", "estimator", "keras.layers", "kernels.registry"):
        importlib.import_module(f"everflow.{module}")
    sys.modules["everflow.kernels.registry"].names()  # loads every kernel, and torch
    _run(_job(sys.argv[1]))


if __name__ == "__main__":
    main()
