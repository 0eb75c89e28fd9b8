"""Steps of several workers beside torch's DistributedDataParallel, and what calls, bytes and rings cost between processes.

python -m benchmarks.workers scaling             a step of 1, 2 and 4 workers on this machine, in turns with torch in the same processes
python -m benchmarks.workers constants           what `benchmarks/growth.py` reckons with
    --workers 1 2 4   --rounds 10
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

LAYERS, UNITS, ROWS, RATE = 5, 512, 64, 0.01
STEPS_OF_A_TURN = 10


def in_turns(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Least seconds of a step of each way; ways take turns of some steps."""
    for way in ways.values():
        for _ in range(STEPS_OF_A_TURN):
            way()
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            for _ in range(STEPS_OF_A_TURN):
                way()
            found[name].append((time.perf_counter() - began) / STEPS_OF_A_TURN)
    return {name: statistics.median(sorted(times)[: max(1, rounds // 2)]) for name, times in found.items()}


# --- the step of a worker ---------------------------------------------------------------------


def our_step(tf) -> Callable[[], object]:
    """A training step by sessions under MultiWorkerMirroredStrategy."""
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    scope = strategy.scope()
    scope.__enter__()

    def step(rows):
        x = rows
        for _ in range(LAYERS - 1):
            x = tf.layers.dense(x, UNITS, tf.nn.relu)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, UNITS)))
        optimizer = tf.train.GradientDescentOptimizer(RATE)
        with tf.control_dependencies([optimizer.minimize(loss, tf.train.get_or_create_global_step())]):
            return tf.identity(loss)

    trained = strategy.experimental_run_v2(step, (tf.constant(_rows()),))
    session = tf.train.MonitoredTrainingSession()
    return lambda: session.run(trained)


def torch_step() -> Callable[[], object]:
    """The same in eager torch, with DistributedDataParallel where there are others."""
    import torch

    layers: list = []
    for _ in range(LAYERS - 1):
        layers += [torch.nn.Linear(UNITS, UNITS), torch.nn.ReLU()]
    model: torch.nn.Module = torch.nn.Sequential(*layers, torch.nn.Linear(UNITS, UNITS))
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    rows = torch.from_numpy(_rows())

    def step():
        optimizer.zero_grad()
        loss = model(rows).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _rows():
    import numpy as np

    return np.random.RandomState(int(os.environ.get("RANK", "0"))).randn(ROWS, UNITS).astype("f")


def work(rounds: int) -> None:
    """What each worker runs; the first says what it found."""
    import torch

    import everflow as tf

    torch.set_num_threads(1)
    found = in_turns({"here": our_step(tf), "torch": torch_step()}, rounds)
    if os.environ.get("RANK", "0") == "0":
        print("RESULT", json.dumps(found), flush=True)
    os._exit(0)  # neither engine minds; their threads would wait for each other's peers


def scaling(workers: list[int], rounds: int) -> None:
    print("| workers | here | torch | the same, to one worker's |\n| --- | --- | --- | --- |")
    first: dict[str, float] = {}
    for count in workers:
        words = ["launch", "-n", str(count), "-m", "benchmarks.workers", "work", "--rounds", str(rounds)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "everflow", *words], env=environment, capture_output=True, text=True, timeout=600
        )
        line = next((line for line in done.stdout.splitlines() if "RESULT" in line), None)
        if line is None:
            raise RuntimeError(done.stdout + done.stderr)
        found = json.loads(line[line.index("{") :])
        first = first or found
        times = " | ".join(f"{found[name] * 1e3:.1f} ms" for name in ("here", "torch"))
        print(f"| {count} | {times} | {' and '.join(f'{found[n] / first[n]:.2f}' for n in found)} |", flush=True)


# --- constants --------------------------------------------------------------------------------


SERVER = """
import sys
import everflow as tf
server = tf.train.Server({"ps": [sys.argv[1]]}, "ps", 0)
print("up", flush=True)
server.join()
"""


def call_and_byte() -> dict[str, float]:
    """Least seconds of a call to another process, and of a byte of a variable that it sends."""
    import everflow as tf
    from everflow.cli.launch import plan_tasks

    address = plan_tasks(1)[0].cluster["worker"][0]
    server = subprocess.Popen([sys.executable, "-c", SERVER, address], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        sizes = {"small": 1, "large": 8 << 20}
        variables = {name: tf.get_variable(name, initializer=tf.zeros([n])) for name, n in sizes.items()}
        with tf.Session(f"grpc://{address}") as session:
            session.run(tf.global_variables_initializer())
            times = {}
            for name, variable in variables.items():
                runs = []
                for _ in range(10 if name == "large" else 200):
                    began = time.perf_counter()
                    session.run(variable)
                    runs.append(time.perf_counter() - began)
                times[name] = min(runs)
    finally:
        server.kill()
        server.wait()
    return {"call": times["small"], "byte": (times["large"] - times["small"]) / (4 * sizes["large"])}


def ring() -> dict[str, float]:
    """Least seconds of a message of gloo's ring, of the agreement before it, and of a byte, from 2 and 4 processes."""
    found = {}
    for count in (2, 4):
        words = ["launch", "-n", str(count), "-m", "benchmarks.workers", "reduce"]
        done = subprocess.run(
            [sys.executable, "-m", "everflow", *words],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        line = next((line for line in done.stdout.splitlines() if "RESULT" in line), None)
        if line is None:
            raise RuntimeError(done.stdout + done.stderr)
        found[count] = json.loads(line[line.index("{") :])
    made = {}
    for count, times in found.items():
        made[f"message of {count}"] = times["gloo small"] / (2 * (count - 1))
        made[f"agreement of {count}"] = times["agreed small"] - times["gloo small"]
        made[f"expectation of {count}"] = times["expected small"] - times["gloo small"]
        made[f"byte of {count}"] = (times["gloo large"] - times["gloo small"]) / (
            2 * (count - 1) / count * times["bytes"]
        )
    return made


def reduce() -> None:
    """What each process of `ring` runs."""
    import torch

    from everflow.kernels.process_group import REDUCE, ProcessGroup, Request, Store

    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = Store.of_environment()
    agreed = ProcessGroup(store.part("agreed"), rank, size)
    plain = torch.distributed.ProcessGroupGloo(store.part("plain").sealed(), rank, size)
    small, large = torch.zeros(1), torch.zeros(4 << 20)
    numbers = itertools.count(1)  # a key for each, so that none is expected

    def agree():
        request = Request(next(numbers), REDUCE, small)
        future = agreed.submit(request)
        agreed.hurry(request)
        future.result()

    def expect():
        request = Request(0, REDUCE, small)
        future = agreed.submit(request)
        agreed.hurry(request)
        future.result()

    def least(way, count):
        times = []
        for _ in range(count):
            began = time.perf_counter()
            way()
            times.append(time.perf_counter() - began)
        return min(times)

    found = {
        "gloo small": least(lambda: plain.allreduce([small]).wait(), 300),
        "agreed small": least(agree, 300),
        "expected small": least(expect, 300),
        "gloo large": least(lambda: plain.allreduce([large]).wait(), 20),
        "bytes": large.numel() * 4,
    }
    if rank == 0:
        print("RESULT", json.dumps(found), flush=True)
    plain.barrier().wait()
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["scaling", "constants", "work", "reduce"])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    if given.what == "scaling":
        scaling(given.workers, given.rounds)
    elif given.what == "constants":
        for measure in (ring, call_and_byte):
            for name, seconds in measure().items():
                print(f"{name}: {seconds * 1e6:.6g} µs", flush=True)
    elif given.what == "work":
        work(given.rounds)
    else:
        reduce()


if __name__ == "__main__":
    main()
