"""Run a program as several processes on this machine: the workers, and parameter servers, of a cluster.

everflow launch -n 4 train.py --steps=100
everflow launch -n 2 --ps 1 train.py
everflow launch -n 2 --ps 1 train.py --job_name={job} --task_index={index} --ps_hosts={ps} --worker_hosts={worker}

Each process finds its place in TF_CONFIG, and in RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT as under torchrun. The
first that fails ends the others, and its exit code is that of the command. Parameter servers end with the workers.
Processes that compute share the processors: where OMP_NUM_THREADS is not set, each takes its part of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

USAGE = (
    "everflow launch [-n WORKERS] [--ps SERVERS] [--evaluator] [--restarts TIMES] (SCRIPT | -m MODULE) [ARGUMENT ...]"
)
# How long processes may take to end when they are asked to.
_GRACE_SECONDS = 5.0
_PORTS = range(20_000, 32_000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--workers", type=int, default=2, help="how many processes compute (2)")
    parser.add_argument("--ps", type=int, default=0, help="how many processes are parameter servers (0)")
    parser.add_argument("--evaluator", action="store_true", help="one more process evaluates checkpoints")
    parser.add_argument(
        "--restarts", type=int, default=0, help="how often processes that failed are started again, all together (0)"
    )
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="a module to run")
    parser.add_argument("script", nargs=argparse.REMAINDER, metavar="SCRIPT", help="a script to run, and its arguments")


def main(args: argparse.Namespace) -> int:
    program = ["-m", *args.module] if args.module else args.script
    if not program or args.workers < 1 or args.ps < 0:
        print(f"usage: {USAGE}", file=sys.stderr)
        return 2
    launch = Launch(plan_tasks(args.workers, args.ps, args.evaluator), program, args.restarts)
    before = signal.signal(signal.SIGTERM, lambda *_: launch.stop(128 + signal.SIGTERM))
    try:
        return launch.run()
    except KeyboardInterrupt:
        launch.stop(128 + signal.SIGINT)
        return launch.finish()
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass
class Task:
    """A process of the cluster: what it is, and what it finds in its environment."""

    job: str
    index: int
    cluster: dict[str, list[str]]
    environment: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.job} {self.index}"

    @property
    def serves(self) -> bool:
        """Whether it goes on until it is ended."""
        return self.job == "ps"

    def filled(self, words: list[str]) -> list[str]:
        """Arguments with the task's place in them: {job}, {index}, and the addresses of a job by its name."""
        places = {job: ",".join(addresses) for job, addresses in self.cluster.items()}
        places |= {"job": self.job, "index": str(self.index)}
        made = []
        for word in words:
            for name, text in places.items():
                word = word.replace("{" + name + "}", text)
            made.append(word)
        return made


def plan_tasks(workers: int, servers: int = 0, evaluator: bool = False) -> list[Task]:
    """The tasks of a cluster on free ports of loopback. With parameter servers the first worker is the chief."""
    addresses = iter(free_addresses(workers + servers + 1))
    if servers:
        jobs = {"chief": 1, "worker": workers - 1, "ps": servers}
    else:
        jobs = {"worker": workers}
    cluster = {job: [next(addresses) for _ in range(count)] for job, count in jobs.items() if count}
    host, port = next(addresses).split(":")
    told = {name for name in ("EVERFLOW_CLUSTER_SECRET", "EVERFLOW_CLUSTER_SECRET_FILE") if os.environ.get(name)}
    # Other users of this machine reach the ports, too.
    common = {} if told else {"EVERFLOW_CLUSTER_SECRET": secrets.token_hex(16)}
    places = [(job, i) for job, tasks in cluster.items() for i in range(len(tasks))]
    places += [("evaluator", 0)] if evaluator else []
    computing = [place for place in places if place[0] in ("chief", "worker")]
    if len(computing) > 1 and not os.environ.get("OMP_NUM_THREADS"):
        common["OMP_NUM_THREADS"] = str(max(1, _usable_processors() // len(computing)))
    tasks = []
    for job, index in places:
        environment = {**common, "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})}
        if (job, index) in computing:
            rank, size = str(computing.index((job, index))), str(len(computing))
            environment |= {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size}
            environment |= {"MASTER_ADDR": host, "MASTER_PORT": port}
        tasks.append(Task(job, index, cluster, environment))
    return tasks


def _usable_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_addresses(count: int) -> list[str]:
    """Addresses that nobody listens at, below the ports that connections get: no connection takes one before its server does."""
    ports: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
        if len(ports) == count:
            return [f"localhost:{port}" for port in ports]
    raise RuntimeError(f"{count} ports from {_PORTS[0]} to {_PORTS[-1]} are wanted; only {len(ports)} are free")


class Launch:
    """Processes under way."""

    def __init__(self, tasks: list[Task], program: list[str], restarts: int = 0) -> None:
        self._tasks, self._program, self._restarts = tasks, program, restarts
        self._processes: dict[str, subprocess.Popen] = {}
        self._readers: list[threading.Thread] = []
        self._code = 0
        self._is_stopping = False

    def run(self) -> int:
        """Start all, and wait for their end; gives the exit code."""
        while True:
            self._start()
            failed = self._wait()
            if failed is None or self._is_stopping or not self._restarts:
                return self.finish()
            self._restarts -= 1
            self._say(f"all processes start again, since {failed} failed; {self._restarts} restarts are left")
            self.finish()
            self._code = 0

    def _start(self) -> None:
        self._say(f"{len(self._tasks)} processes: {', '.join(task.name for task in self._tasks)}")
        for task in self._tasks:
            process = subprocess.Popen(
                [sys.executable, "-m", "everflow", "run", *task.filled(self._program)],
                env={**os.environ, "PYTHONUNBUFFERED": "1", "EVERFLOW_LAUNCH": "1", **task.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            self._processes[task.name] = process
            reader = threading.Thread(target=self._hand_on, args=(task.name, process), daemon=True)
            reader.start()
            self._readers.append(reader)

    def _hand_on(self, name: str, process: subprocess.Popen) -> None:
        for line in process.stdout or ():
            sys.stdout.write(f"[{name}] {line}" if line.endswith("\n") else f"[{name}] {line}\n")
            sys.stdout.flush()

    def _wait(self) -> str | None:
        """The task that failed, as soon as one does; None when all have done their work."""
        left = {task.name for task in self._tasks if not task.serves}
        while left and not self._is_stopping:
            for name, process in self._processes.items():
                code = process.poll()
                if code is None:
                    continue
                if code:
                    self._code = code if code > 0 else 128 - code
                    how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
                    self._say(f"{name} failed with {how}")
                    return name
                if name in left:
                    left.discard(name)
                    self._say(f"{name} is done; {len(left)} left")
            time.sleep(0.05)
        return None

    def stop(self, code: int) -> None:
        """End everything."""
        self._code, self._is_stopping = code, True

    def finish(self) -> int:
        """End what still runs, and let what it has printed be seen."""
        for process in self._processes.values():
            if process.poll() is None:
                process.terminate()
        until = time.monotonic() + _GRACE_SECONDS
        for process in self._processes.values():
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for reader in self._readers:
            reader.join(_GRACE_SECONDS)
        return self._code

    def _say(self, text: str) -> None:
        print(f"[launch] {text}", flush=True)
