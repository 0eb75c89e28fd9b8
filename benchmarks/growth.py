"""How a step's time grows with the workers, on paper: for parameter servers and for rings, with constants that were measured.

python -m benchmarks.growth          the table and the picture of docs/distributed.md
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import table

PICTURE = Path(__file__).parent.parent / "docs" / "workers.svg"
WORKERS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
GIGABIT = 1e9 / 8


@dataclass(frozen=True)
class Costs:
    """Seconds, as `python -m benchmarks.workers constants` finds them."""

    call: float = 0.63e-3  # of a call between two tasks
    byte: float = 4.4e-9  # of a byte of a tensor in such a call, at each end together
    message: float = 36e-6  # of one message of gloo's ring
    start: float = 0.25e-3  # of beginning a reduction that all expect
    ring_byte: float = 0.81e-9  # of a byte that a process sends and adds in the ring


@dataclass(frozen=True)
class Network:
    """Lines between machines."""

    name: str
    bandwidth: float  # bytes a second, each way
    latency: float = 20e-6  # seconds from machine to machine, by a switch


@dataclass(frozen=True)
class Model:
    """What is trained: its gradients, and what a worker computes."""

    bytes: float = 100e6
    forward: float = 0.03
    backward: float = 0.06

    @property
    def compute(self) -> float:
        return self.forward + self.backward


def ring_step(workers: int, model: Model, network: Network, costs: Costs = Costs()) -> float:
    """Every worker the same: gradients travel while the backward pass goes on."""
    if workers == 1:
        return model.compute
    steps = 2 * (workers - 1)
    share = model.bytes / workers
    travel = steps * (costs.message + network.latency + share * max(1 / network.bandwidth, costs.ring_byte))
    return model.forward + max(model.backward, costs.start + travel)


def server_step(
    workers: int,
    servers: int,
    model: Model,
    network: Network,
    costs: Costs = Costs(),
) -> float:
    """Parameter servers, workers in step: each reads all variables and sends all gradients; a server serves all workers."""
    per_byte = max(1 / network.bandwidth, costs.byte)
    by_worker = model.bytes * per_byte
    by_server = workers * model.bytes / servers * per_byte
    calls = costs.call + network.latency
    return model.compute + 2 * (calls + max(by_worker, by_server))


NETWORKS = [Network("10 Gbit/s", 10 * GIGABIT), Network("100 Gbit/s", 100 * GIGABIT)]


def ways() -> dict[str, list[float]]:
    """Label → seconds of a step for each number of workers."""
    model, made = Model(), {}
    for network in NETWORKS:
        made[f"ring, {network.name}"] = [ring_step(n, model, network) for n in WORKERS]
        for label, servers in (("a server for 4 workers", lambda n: max(1, n // 4)), ("16 servers", lambda n: 16)):
            made[f"{label}, {network.name}"] = [server_step(n, servers(n), model, network) for n in WORKERS]
    return made


def text() -> str:
    """The table of the page."""
    rows = [[label, *(f"{s:.2f}" if s < 9.95 else f"{s:.0f}" for s in steps)] for label, steps in ways().items()]
    return table(["seconds of a step with workers:", *map(str, WORKERS)], rows)


def draw(path: Path = PICTURE) -> None:
    """The same as a picture."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": "everflow", "svg.fonttype": "none"})
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for number, (label, steps) in enumerate(ways().items()):
        axes.plot(WORKERS, steps, "-" if "100" in label else "--", color=f"C{number % 3}", label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(WORKERS, map(str, WORKERS))
    axes.set_yticks([0.1, 0.2, 0.5, 1, 2, 5, 10, 20], ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_xlabel("workers")
    axes.set_ylabel("seconds of a step")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    print(text())
    draw()
