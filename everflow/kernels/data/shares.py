"""Blocks of elements shared out among threads, each of which calls a function for a whole block: functions that decode
images, which take long for each and little besides.

How many elements a block has follows from what is asked for and how large they are, never from the clock: the last bits
of sums may depend on whether a function was called for many elements.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.kernels.data import blocks
from everflow.kernels.data.datasets import Blocks, Iteration, Take
from everflow.kernels.data.parallel import Call, Job, Jobs, result_of

if TYPE_CHECKING:
    from everflow.kernels.context import Step
    from everflow.kernels.tensors import AnyTensor, Value

# The most elements in a block, and the most bytes of text, which images are that are still to be decoded.
MOST, LARGEST = 32, 1 << 22
# Random numbers are drawn for up to so many calls, and so many bytes, at once.
DRAWN, DRAWN_BYTES = 512, 1 << 16

Columns = tuple["AnyTensor", ...]


class Form:
    """A function for `count` elements at a time, `many(*columns, step=step)`, and for one, `one(step, element)`;
    `draw(times, step=step)` gives random numbers for so many calls, which both take after what else goes in.
    """

    def __init__(
        self,
        count: int,
        many: Callable[..., Sequence[Value]],
        one: Call,
        draw: Callable[..., Sequence[AnyTensor]] | None,
    ) -> None:
        self.count, self._many, self._one, self.draw = count, many, one, draw
        self._works = True

    def results(self, job: Job) -> list[Columns | Exception]:
        """Those of a job's elements: one block, or a block or an error for each."""
        columns: Columns = job.given
        is_whole = self._works and blocks.size_of(columns) == self.count > 1
        if is_whole:
            try:
                return [tuple(map(_alone, self._many(*columns, step=job.step)))]
            except Exception:  # whatever it is: the elements are asked one by one, and whose error it is gives it
                pass
        found = [result_of(self._one, job.step, element) for element in blocks.rows(columns)]
        if is_whole and not any(isinstance(result, Exception) for result in found):
            self._works = False  # such as elements whose results have different shapes
        return [result if isinstance(result, Exception) else blocks.one_row(result) for result in found]


class _Numbers:
    """Random numbers for calls, drawn for several ahead."""

    def __init__(self, draw: Callable[..., Sequence[AnyTensor]]) -> None:
        self._draw, self._at_once = draw, 1
        self._left: Columns = ()

    def take(self, count: int, step: Step | None) -> Columns:
        """Those of the next calls."""
        while not self._left or blocks.size_of(self._left) < count:
            times = max(count, self._at_once)
            drawn = tuple(self._draw(torch.tensor(times, dtype=torch.int32), step=step))
            size = sum(column.nbytes for column in drawn) // times
            self._at_once = min(DRAWN, DRAWN_BYTES // max(size, 1))
            self._left = blocks.joined([self._left, drawn]) if self._left else drawn
        taken, self._left = (blocks.chosen(self._left, part) for part in (slice(count), slice(count, None)))
        return taken


class SharedOut:
    """Gives the results for the elements of `take`, up to so many at a time. `form_for(count)` makes the function."""

    def __init__(self, take: Take, form_for: Callable[[int], Form], count: int, iteration: Iteration) -> None:
        self._take, self._form_for, self._iteration = take, form_for, iteration
        self._count = count if count > 0 else iteration.threads
        self._form: Form | None = None
        self._jobs: Jobs | None = None
        self._numbers: _Numbers | None = None
        self._ready: deque[Columns | Exception] = deque()

    def __call__(self, n: int) -> Columns:
        while not self._ready:
            self._ready.extend(self._next(n))
        found = self._ready.popleft()
        if isinstance(found, Exception):
            raise found
        if blocks.size_of(found) > n:
            self._ready.appendleft(blocks.chosen(found, slice(n, None)))
            return blocks.chosen(found, slice(n))
        return found

    def _next(self, n: int) -> Sequence[Columns | Exception]:
        step = self._iteration.step
        while self._jobs is None or (len(self._jobs) <= self._count and not self._jobs.is_at_end):
            self._submit(step, n)
        job = self._jobs.next(step)
        assert job.results is not None
        return job.results

    def _submit(self, step: Step | None, n: int) -> None:
        size = -(-n // -(-n // MOST)) if self._form is None else self._form.count
        found, failure = self._read(size)
        if self._form is None:
            if found:
                size = min(size, max(1, LARGEST // (_bytes(found[0]) // blocks.size_of(found[0]) or 1)))
            self._form = self._form_for(size)
            self._numbers = None if self._form.draw is None else _Numbers(self._form.draw)
        if self._jobs is None:
            self._jobs = Jobs(self._form.results, self._count, self._iteration, sloppy=self._iteration.is_sloppy)
        whole = found and blocks.fit(found)
        for columns in [blocks.joined(found)] if whole else found:
            self._hand_over(step, self._jobs, self._form, columns)
        if failure is not None:
            self._iteration.check()  # what ends the run that asks is no element's error
            self._jobs.follow(failure)

    def _hand_over(self, step: Step | None, jobs: Jobs, form: Form, columns: Columns) -> None:
        for begin in range(0, blocks.size_of(columns), form.count):
            part = blocks.chosen_columns(blocks.chosen(columns, slice(begin, None)), form.count)
            numbers = () if self._numbers is None else self._numbers.take(blocks.size_of(part), step)
            jobs.submit(step, (*part, *numbers))

    def _read(self, size: int) -> tuple[list[Columns], Exception | None]:
        """The next elements, and what comes instead of one that is not there."""
        found: list[Columns] = []
        left = size
        try:
            while left:
                found.append(self._take(left))
                left -= blocks.size_of(found[-1])
        except Exception as e:
            return found, e
        return found, None


def _alone(value: Value) -> Value:
    """The same without the tensor that it may be a view of: whoever fetches it can see that its memory is its own."""
    return value.detach() if isinstance(value, torch.Tensor) else value


def _bytes(columns: Columns) -> int:
    """How much text is in a block."""
    texts = [column for column in columns if isinstance(column, np.ndarray)]
    return sum(len(value) for column in texts for value in column.flat)


def shared_out(source: Blocks, form_for: Callable[[Iteration, int], Form], count: int) -> Blocks:
    """The results of a function for the elements of `source`, `count` blocks at the same time."""

    def start(iteration: Iteration) -> Any:
        take = source.start_columns(iteration)
        return SharedOut(take, lambda size: form_for(iteration, size), count, iteration)

    return Blocks(start, quiet=True, shared_out=True)
