"""Batches across runs: what several runs bring at the same time is computed together, by one of them.

The first run of a batch waits until the batch is full or its time is over, and then has all of it; the others have
nothing, or wait for their part of what the first one makes.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework.errors import DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.kernels.facts import Waits
from everflow.kernels.queues.queues import shared_resource
from everflow.kernels.registry import acting

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Value
    from everflow.protos.attr_value_pb2 import NameAttrList


class _Task:
    """What one run brings: its rows, and later its part of the results, or what failed."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self.tensors = tensors
        self.rows = tensors[0].shape[0]
        # Never negative twice: ids name tasks between ops that meet.
        self.id = secrets.randbits(63)
        self.outcome: Any = None


class _Batch:
    def __init__(self, until: float) -> None:
        self.tasks: list[_Task] = []
        self.until = until
        self.is_closed = False

    @property
    def rows(self) -> int:
        return sum(task.rows for task in self.tasks)


class Batcher:
    """Where runs meet; at most one batch is open."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.condition = renewed(threading.Condition())
        self.open: _Batch | None = None

    def join(self, task: _Task, most: int, seconds: float, step: Step) -> _Batch | None:
        """The whole batch for the run that began it, once it is closed; None for the others, at once."""
        with self.condition:
            batch = self.open
            if batch is None or batch.is_closed or batch.rows + task.rows > most:
                if batch is not None:
                    batch.is_closed = True
                batch = self.open = _Batch(time.monotonic() + seconds)
            batch.tasks.append(task)
            batch.is_closed = batch.is_closed or batch.rows == most
            self.condition.notify_all()
            if batch.tasks[0] is not task:
                return None
            _wait(self.condition, lambda: batch.is_closed, batch.until, step)
            batch.is_closed = True
            if self.open is batch:
                self.open = None
            return batch

    def finish(self, outcomes: list[tuple[_Task, Any]]) -> None:
        """Hand results to the runs that wait for them."""
        with self.condition:
            for task, outcome in outcomes:
                task.outcome = outcome
            self.condition.notify_all()


def _wait(condition: threading.Condition, done: Callable[[], bool], until: float, step: Step) -> bool:
    """Wait until something is so, or a time has come; whether it is so."""
    while not done():
        left = until - time.monotonic()
        if left <= 0:
            return False
        condition.wait(min(left, 0.02))
        step.check()
    return True


def _task(tensors: list[torch.Tensor], most: int, allowed: list[int]) -> _Task:
    if allowed and (sorted(set(allowed)) != allowed or allowed[-1] != most):
        raise InvalidArgumentError(
            None, None, f"allowed_batch_sizes must go up to max_batch_size, {most}, but are {allowed}"
        )
    if any(tensor.ndim == 0 for tensor in tensors):
        raise InvalidArgumentError(None, None, "What is batched must have a first dimension")
    if len({tensor.shape[0] for tensor in tensors}) != 1:
        raise InvalidArgumentError(None, None, "The tensors that a run brings to a batch must have as many rows each")
    if tensors[0].shape[0] > most:
        raise InvalidArgumentError(None, None, f"{tensors[0].shape[0]} rows are more than a batch has, {most}")
    return _Task(tensors)


def _joined(batch: _Batch, allowed: list[int]) -> list[torch.Tensor]:
    """The rows of all tasks, with the first row again until the size is one that is allowed."""
    size = next((size for size in allowed if size >= batch.rows), batch.rows)
    columns = zip(*(task.tensors for task in batch.tasks))
    joined = [torch.cat(column) for column in columns]
    return [torch.cat([t, t[:1].expand(size - t.shape[0], *t.shape[1:])]) for t in joined]


def _index(batch: _Batch) -> torch.Tensor:
    """A row for each task: its id, and its first row and the one after its last."""
    rows, start = [], 0
    for task in batch.tasks:
        rows.append((task.id, start, start + task.rows))
        start += task.rows
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)


@acting("Batch", waits=Waits.OUTSIDE)
def batch(
    in_tensors: list[torch.Tensor],
    *,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: list[int],
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
    step: Step,
) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    batcher = shared_resource("batcher", node, session, container, shared_name, Batcher)
    task = _task(in_tensors, max_batch_size, allowed_batch_sizes)
    whole = batcher.join(task, max_batch_size, batch_timeout_micros / 1e6, step)
    number = torch.tensor(task.id, dtype=torch.int64)
    if whole is None:
        nothing = [t.new_empty((0, *t.shape[1:])) for t in in_tensors]
        return nothing, torch.empty((0, 3), dtype=torch.int64), number
    return _joined(whole, allowed_batch_sizes), _index(whole), number


@acting("BatchFunction", waits=Waits.OUTSIDE, threads_matter_from=0)
def batch_function(
    in_tensors: list[torch.Tensor],
    captured_tensors: list[Value],
    *,
    f: NameAttrList,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: list[int],
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
    step: Step,
) -> list[torch.Tensor]:
    batcher = shared_resource("batcher", node, session, container, shared_name, Batcher)
    task = _task(in_tensors, max_batch_size, allowed_batch_sizes)
    whole = batcher.join(task, max_batch_size, batch_timeout_micros / 1e6, step)
    if whole is not None:
        try:
            outputs = session.function(f)(*_joined(whole, allowed_batch_sizes), *captured_tensors, step=step)
            batcher.finish(_parts(whole, outputs))
        except Exception as error:  # every run of the batch fails with it
            batcher.finish([(member, error) for member in whole.tasks])
    with batcher.condition:
        step.wait_for(batcher.condition, lambda: task.outcome is not None)
    if isinstance(task.outcome, Exception):
        raise task.outcome
    return task.outcome


def _parts(whole: _Batch, outputs: list[torch.Tensor]) -> list[tuple[_Task, list[torch.Tensor]]]:
    for output in outputs:
        if output.ndim == 0 or output.shape[0] < whole.rows:
            raise FailedPreconditionError(
                None, None, f"A function of a batch of {whole.rows} rows gave {list(output.shape)}: it must keep them"
            )
    ends = _index(whole)[:, 1:].tolist()
    return [(t, [o[a:b].clone() for o in outputs]) for t, (a, b) in zip(whole.tasks, ends)]


class Unbatcher:
    """Parts of batches that runs come for, by their ids."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.condition = renewed(threading.Condition())
        self.parts: dict[int, torch.Tensor] = {}


@acting("Unbatch", waits=Waits.OUTSIDE)
def unbatch(
    batched_tensor: torch.Tensor,
    batch_index: torch.Tensor,
    id: torch.Tensor,
    *,
    timeout_micros: int,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
    step: Step,
) -> torch.Tensor:
    place = shared_resource("unbatcher", node, session, container, shared_name, Unbatcher)
    number = int(id)
    with place.condition:
        for member, start, end in batch_index.tolist():
            place.parts[member] = batched_tensor[start:end].clone()
        place.condition.notify_all()
        until = time.monotonic() + timeout_micros / 1e6
        if not _wait(place.condition, lambda: number in place.parts, until, step):
            raise DeadlineExceededError(None, None, f"The batch of {number} did not come within {timeout_micros} μs")
        return place.parts.pop(number)


@acting("UnbatchGrad", waits=Waits.OUTSIDE)
def unbatch_grad(
    original_input: torch.Tensor,
    batch_index: torch.Tensor,
    grad: torch.Tensor,
    id: torch.Tensor,
    *,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
    step: Step,
) -> torch.Tensor:
    """The gradients of all runs of a batch for the one that had it, and none for the others."""
    place = shared_resource("unbatcher", node, session, container, shared_name, Unbatcher)
    members = batch_index[:, 0].tolist() if batch_index.numel() else []
    with place.condition:
        place.parts[int(id)] = grad.clone()
        place.condition.notify_all()
        if not members:
            return original_input.new_empty((0, *grad.shape[1:]))
        step.wait_for(place.condition, lambda: all(member in place.parts for member in members))
        found = torch.cat([place.parts.pop(member) for member in members])
    missing = original_input.shape[0] - found.shape[0]
    return torch.cat([found, found.new_zeros((missing, *found.shape[1:]))])
