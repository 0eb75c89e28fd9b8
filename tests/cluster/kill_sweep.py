"""Members of clusters are killed at any moment, again and again; training has to come to its right end.

    python -m tests.cluster.kill_sweep --kills 100 [--way monitored estimator launch launch-ps] [--seed 0]
    EVERFLOW_ORACLE=PYTHON python -m tests.cluster.kill_sweep --oracle --kills 12 --way monitored estimator

The second does the same with TensorFlow itself in the members' place: what it allows itself, ours may, too.
A cluster trains the program beside this file in a folder; now and then a member, any one, is killed with SIGKILL and
started again, as a cluster's manager would. When as many kills are done as a round has, it is left alone. Then the last checkpoint must have the right step and weights, no member may have failed by itself, and none may hang.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

import everflow as tf
from everflow.cli.launch import Task, plan_tasks

PROGRAM = str(pathlib.Path(__file__).with_name("kill_sweep_program.py"))
LAST_STEP = 500
KILLS_OF_A_ROUND = 6
# A cluster whose last member was started again so long ago, and that has not finished, hangs.
PATIENCE_SECONDS = 240.0
_LONGEST_PAUSE = 8.0


class Failure(Exception):
    """A cluster did not come to its right end."""


@dataclasses.dataclass
class Round:
    """One training from beginning to end."""

    way: str
    folder: pathlib.Path
    chance: random.Random
    kills: int
    killed: list[str] = dataclasses.field(default_factory=list)
    python: list[str] = dataclasses.field(default_factory=lambda: [sys.executable, "-m", "everflow", "run"])

    def say(self, text: str) -> None:
        print(f"{self.way}: {text}", flush=True)

    def log(self, name: str):
        return open(self.folder / f"{name.replace(' ', '-')}.log", "a")

    def kill(self, name: str, process: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(process, signal.SIGKILL)
            self.killed.append(name)
            self.say(f"killed {name} ({len(self.killed)} of {self.kills})")


# --- members that are started again one by one ----------------------------------------------


class Members:
    """The processes of a cluster, each started again when it was killed."""

    def __init__(self, this_round: Round, tasks: list[Task], program_way: str) -> None:
        self._round, self._tasks, self._way = this_round, {task.name: task for task in tasks}, program_way
        self._processes: dict[str, subprocess.Popen] = {}
        self._expected: set[subprocess.Popen] = set()  # whose end is our doing
        for name in self._tasks:
            self.start(name)

    def start(self, name: str) -> None:
        with self._round.log(name) as log:
            self._processes[name] = subprocess.Popen(
                [*self._round.python, PROGRAM, self._way, str(self._round.folder / "model"), str(LAST_STEP)],
                env=_environment(self._tasks[name].environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill_one(self) -> None:
        running = [name for name, process in self._processes.items() if process.poll() is None]
        if self._is_done("chief 0") or not running:
            return  # without its chief a model that is lost stays lost, as in TensorFlow
        # Each has its turn, in no order that one could foresee.
        name = min(running, key=lambda name: (self._round.killed.count(name), self._round.chance.random()))
        process = self._processes[name]
        self._expected.add(process)
        self._round.kill(name, process.pid)
        process.wait()
        time.sleep(self._round.chance.choice([0.0, 0.0, 1.0]))
        self.start(name)

    def check(self) -> bool:
        """Whether all that computes has done its work; a member that failed by itself is a Failure."""
        for name, process in self._processes.items():
            code = process.poll()
            if code and process not in self._expected:
                raise Failure(f"{name} failed by itself with code {code}")
        return all(self._is_done(name) for name, task in self._tasks.items() if not task.serves)

    def _is_done(self, name: str) -> bool:
        return self._processes[name].poll() == 0

    def living(self) -> list[int]:
        return [process.pid for process in self._processes.values() if process.poll() is None]

    def close(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


# --- members that `everflow launch` starts again, all together ------------------------------


class Launched:
    """`everflow launch` with as many restarts as there will be kills."""

    def __init__(self, this_round: Round, words: list[str], program_way: str) -> None:
        self._round = this_round
        command = [sys.executable, "-m", "everflow", "launch", *words, "--restarts", str(this_round.kills), PROGRAM]
        with this_round.log("launch") as log:
            self._process = subprocess.Popen(
                [*command, program_way, str(this_round.folder / "model"), str(LAST_STEP)],
                env=_environment({}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill_one(self) -> None:
        members = _children(self._process.pid)
        if members:
            chosen = self._round.chance.choice(members)
            self._round.kill(f"process {members.index(chosen)}", chosen)

    def check(self) -> bool:
        code = self._process.poll()
        if code:
            raise Failure(f"everflow launch ended with code {code}")
        return code == 0

    def living(self) -> list[int]:
        return _children(self._process.pid)

    def close(self) -> None:
        for process in self.living():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def _children(process: int) -> list[int]:
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _environment(more: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
    return {**kept, "OMP_NUM_THREADS": "1", "EVERFLOW_COLLECTIVE_TIMEOUT": "60", "PYTHONUNBUFFERED": "1", **more}


WAYS = {
    "monitored": lambda r: Members(r, plan_tasks(2, 1), "monitored"),
    "estimator": lambda r: Members(r, plan_tasks(2, 1, evaluator=True), "estimator"),
    "launch": lambda r: Launched(r, ["-n", "2"], "group"),
    "launch-ps": lambda r: Launched(r, ["-n", "2", "--ps", "1"], "monitored"),
}


# --- a round --------------------------------------------------------------------------------


def run(this_round: Round) -> None:
    """One training with kills; a Failure where it doesn't end as it should."""
    members = WAYS[this_round.way](this_round)
    try:
        moment, until = Moment(this_round), time.monotonic() + PATIENCE_SECONDS
        while not members.check():
            if time.monotonic() > until:
                _dump(members)
                raise Failure(f"not done after {PATIENCE_SECONDS:.0f} s without a kill")
            if len(this_round.killed) < this_round.kills and moment.has_come():
                members.kill_one()
                moment, until = Moment(this_round), time.monotonic() + PATIENCE_SECONDS
            time.sleep(0.05)
    finally:
        members.close()
    step = check_model(this_round.way, this_round.folder / "model", len(this_round.killed))
    this_round.say(f"ended at step {step}")


class Moment:
    """When the next kill is due: some time from now, be it while processes start, or, by turns, some time after training has
    gone on.
    """

    def __init__(self, this_round: Round) -> None:
        self._round = this_round
        self._before = self._newest()
        self._needs_progress = bool(len(this_round.killed) % 2)
        self._due = time.monotonic() + this_round.chance.uniform(0.0, _LONGEST_PAUSE)

    def _newest(self) -> str | None:
        return tf.train.latest_checkpoint(str(self._round.folder / "model"))

    def has_come(self) -> bool:
        if self._needs_progress and self._newest() != self._before:
            self._needs_progress = False
            self._due = time.monotonic() + self._round.chance.uniform(0.0, 2.0)
        return not self._needs_progress and time.monotonic() > self._due


def _dump(members: Members | Launched) -> None:
    """Have those that hang write where they are into their logs."""
    for process in members.living():
        os.kill(process, signal.SIGUSR1)
    time.sleep(1.0)


def right_weights(steps: int, rate: float) -> tuple[np.ndarray, list[float]]:
    """What so many steps of gradient descent make of zeros, and the loss at each."""
    rng = np.random.RandomState(0)
    x = rng.randn(64, 4).astype("f").astype("d")
    y = x @ [[1.0], [-2.0], [3.0], [0.5]]
    weights, bias, losses = np.zeros((4, 1)), 0.0, []
    for _ in range(steps):
        error = x @ weights + bias - y
        losses.append(float(np.mean(error**2)))
        weights, bias = weights - rate * 2 * x.T @ error / 64, bias - rate * 2 * error.mean()
    return weights, losses


def check_model(way: str, folder: pathlib.Path, kills: int = 0, workers: int = 2) -> int:
    """The step of the last checkpoint; a Failure unless it is right, and weights and losses with it."""
    newest = tf.train.latest_checkpoint(str(folder))
    if newest is None:
        raise Failure("no checkpoint was left")
    reader = tf.train.load_checkpoint(newest)
    step, tally = int(reader.get_tensor("global_step")), float(reader.get_tensor("tally"))
    weights = reader.get_tensor("fit/kernel")
    in_step = way == "launch"
    # Without a common step, each worker sees the end one step late, and so does each that is started again; and a
    # kill may leave a step half done.
    slack = 0 if in_step else workers + kills
    if not LAST_STEP <= step <= LAST_STEP + slack:
        raise Failure(f"the last checkpoint is of step {step}, not {LAST_STEP}")
    if abs(tally - step) > slack:
        raise Failure(f"{tally} updates were made in {step} steps")
    wanted, losses = right_weights(step, 0.002 if in_step else 0.1)
    if not np.allclose(weights, wanted, rtol=1e-5, atol=1e-5):
        raise Failure(f"weights are {weights.ravel()}, not {wanted.ravel()}")
    for path in folder.glob("losses-*.json"):
        for at, loss in json.loads(path.read_text()).items():
            if not np.isclose(loss, losses[int(at)], rtol=1e-4):
                raise Failure(f"the loss of step {at} is {loss}, not {losses[int(at)]} ({path.name})")
    return step


def sweep(way: str, kills: int, seed: int, folder: pathlib.Path, **more: Any) -> list[str]:
    """Rounds until so many kills are done; gives what failed."""
    chance, done, failed, started = random.Random(f"{way} {seed}"), 0, [], time.monotonic()
    number = 0
    while done < kills:
        place = folder / f"{way}-{number}"
        place.mkdir(parents=True)
        (place / "model").mkdir()
        this_round = Round(way, place, chance, min(KILLS_OF_A_ROUND, kills - done), **more)
        try:
            run(this_round)
        except Failure as e:
            failed.append(f"{way}, round {number} ({', '.join(this_round.killed)}; logs in {place}): {e}")
            this_round.say(f"FAILED: {e}")
        done += len(this_round.killed)
        number += 1
        this_round.say(f"round {number}: {done} kills of {kills}, {time.monotonic() - started:.0f} s")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill members of clusters at any moment, and see training end right.")
    parser.add_argument("--kills", type=int, default=100, help="in all, over the ways (100)")
    parser.add_argument("--way", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=pathlib.Path, help="where checkpoints and logs go")
    parser.add_argument("--oracle", action="store_true", help="let TensorFlow train: $EVERFLOW_ORACLE is its Python")
    given = parser.parse_args()
    folder = given.folder or pathlib.Path(tempfile.mkdtemp(prefix="kill-sweep-"))
    failed = []
    for i, way in enumerate(given.way):
        share = (given.kills * (i + 1)) // len(given.way) - (given.kills * i) // len(given.way)
        more = {"python": [os.environ["EVERFLOW_ORACLE"], "-W", "ignore"]} if given.oracle else {}
        failed += sweep(way, share, given.seed, folder, **more)
    print("\n".join(failed) or f"all trainings ended right; {given.kills} kills")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
