"""Elements of several datasets in turn, some of each at a time: one by one, in blocks, made ahead by threads, and, where
the order is left open, as they are ready.

A dataset that ends leaves its place in the cycle to the next one, which begins when that place's turn comes again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data import blocks
from everflow.kernels.data.ahead import Ahead, Meeting
from everflow.kernels.data.datasets import Blocks, Dataset, Element, End, Following, Iteration, Take, dataset
from everflow.kernels.data.functions import caller, dataset_of
from everflow.kernels.data.rewrites import part_of
from everflow.kernels.data.stats import telling_threads

if TYPE_CHECKING:
    from everflow.kernels.context import Session
    from everflow.kernels.tensors import AnyTensor, Value
    from everflow.protos.attr_value_pb2 import NameAttrList

NextPart = Callable[[int], Dataset]  # for a place in the cycle; raises `End`


class _Turns:
    """Whose turn it is in a cycle of datasets, which `begin(dataset)` begins."""

    def __init__(
        self, next_part: NextPart, begin: Callable[[Dataset], Any], cycle: int, length: int, goes_on: bool = False
    ) -> None:
        """`goes_on`: a dataset that ends, and that no other one follows, leaves what it didn't give of its turn to the next."""
        self._next_part, self._begin, self._length, self._goes_on = next_part, begin, length, goes_on
        self.parts: list[Any] = [None] * cycle
        self.at = self.given = 0
        self._is_last = False  # there are no more datasets to begin

    @property
    def is_over(self) -> bool:
        return self._is_last and not any(self.parts)

    @property
    def left(self) -> int:
        """How many elements the dataset may give before the next one's turn comes."""
        return self._length - self.given

    def current(self) -> Any:
        """What was begun of the dataset whose turn it is; None where there is none."""
        if self.parts[self.at] is None and not self._is_last:
            try:
                self.parts[self.at] = self._begin(self._next_part(self.at))
            except End:
                self._is_last = True
        return self.parts[self.at]

    def begin_all(self) -> None:
        """Begin datasets at all places of the cycle that are free."""
        here = self.at
        for place in range(len(self.parts)):
            self.at = place
            self.current()
        self.at = here

    def turn_to(self, ready: Callable[[Any], bool]) -> bool:
        """Let it be the turn of the first, from the current one on, that is ready; say whether there is any."""
        places = [*range(self.at, len(self.parts)), *range(self.at)]
        for place in places:
            if self.parts[place] is not None and ready(self.parts[place]):
                if place != self.at:
                    self.at, self.given = place, 0
                return True
        return False

    def gave(self, count: int) -> None:
        self.given += count
        if self.given == self._length:
            self.advance()

    def advance(self) -> None:
        self.at, self.given = (self.at + 1) % len(self.parts), 0

    def skip(self) -> None:
        """Nothing is here any more."""
        self.at = (self.at + 1) % len(self.parts)

    def ended(self) -> None:
        """The dataset whose turn it is has no more elements."""
        if self._goes_on:
            self.begin_all()  # those of the first turns come before the one that follows here
        self.parts[self.at] = None
        if self._goes_on and self.current() is None:
            self.skip()
        else:
            self.advance()


def _one_by_one(turns: _Turns) -> Following:
    def interleaved() -> Element:
        while not turns.is_over:
            following = turns.current()
            if following is None:
                turns.skip()
                continue
            try:
                element = following()
            except End:
                turns.ended()
                continue
            turns.gave(1)
            return element
        raise End

    return interleaved


def _as_they_come(turns: _Turns, meeting: Meeting, iteration: Iteration) -> Following:
    """Elements that threads made, first those of the dataset whose turn it is; where it has none, another's."""

    def is_ready(part: Ahead) -> bool:
        part.wake()
        return part.ready > 0

    def interleaved() -> Element:
        while True:
            turns.begin_all()
            if turns.is_over:
                raise End
            with meeting.condition:
                if iteration.step is None:
                    meeting.condition.wait_for(lambda: turns.turn_to(is_ready))
                else:
                    iteration.step.wait_for(meeting.condition, lambda: turns.turn_to(is_ready))
            try:
                element = turns.current()()
            except End:
                turns.ended()
                continue
            turns.gave(1)
            return element

    return interleaved


class _ManyInTurns:
    """The same in blocks; each dataset is read ahead."""

    def __init__(self, turns: _Turns, cycle: int) -> None:
        self._turns = turns
        self._ahead: list[Any] = [None] * cycle
        self._failure: Exception | None = None  # of the element after those that were found

    def __call__(self, n: int) -> tuple[AnyTensor, ...]:
        found: list[tuple[AnyTensor, ...]] = []
        left, turns = n, self._turns
        while left and self._failure is None and not turns.is_over:
            try:
                block = self._some(min(left, turns.left))
            except Exception as e:
                self._failure = e
                continue
            if block is None:
                continue
            if found and not blocks.fit([found[0], block]):  # other shapes: they come with the next block
                rest = self._ahead[turns.at]
                self._ahead[turns.at] = block if rest is None else blocks.joined([block, rest])
                break
            found.append(block)
            left -= blocks.size_of(block)
            turns.gave(blocks.size_of(block))
        if found:
            return blocks.joined(found)
        failure, self._failure = self._failure, None
        raise failure or End

    def _some(self, n: int) -> Any:
        """Up to n elements of the dataset whose turn it is; None where it has no more."""
        turns = self._turns
        take = turns.current()
        if take is None:
            turns.skip()
            return None
        try:
            block = take(blocks.AHEAD) if self._ahead[turns.at] is None else self._ahead[turns.at]
        except End:
            turns.ended()
            return None
        is_more = blocks.size_of(block) > n
        self._ahead[turns.at] = blocks.chosen(block, slice(n, None)) if is_more else None
        return blocks.chosen(block, slice(n)) if is_more else block


def in_blocks(parts: Callable[[Iteration], NextPart], cycle: int, length: int, goes_on: bool = False) -> Blocks:
    """`length` elements at a time from `cycle` datasets; `parts(iteration)` returns what gives the next dataset."""

    def start(iteration: Iteration) -> Take:
        def begin(part: Dataset) -> Take:
            return blocks.of(part).start_columns(iteration)

        return _ManyInTurns(_Turns(parts(iteration), begin, cycle, length, goes_on), cycle)

    return Blocks(start, quiet=True)


def _interleaved(
    input_dataset: Dataset,
    other_arguments: list[Value],
    cycle_length: torch.Tensor,
    block_length: torch.Tensor,
    f: NameAttrList,
    session: Session,
    *,
    ahead: int = 0,
    sloppy: bool = False,
    goes_on: bool = False,
) -> Dataset:
    """`ahead`: how many elements of each dataset threads may make before they are asked for."""
    cycle, length = int(cycle_length), int(block_length)
    if cycle == -1:
        cycle = torch.get_num_threads()
    if cycle <= 0:
        raise InvalidArgumentError(None, None, "cycle_length must be greater than zero.")
    if length <= 0:
        raise InvalidArgumentError(None, None, "block_length must be greater than zero.")

    def parts(iteration: Iteration) -> NextPart:
        following, run = input_dataset.start(iteration), caller(session, f, other_arguments, iteration)
        return lambda place: part_of(iteration, made, dataset_of(run(*following())), place)

    def start(iteration: Iteration) -> Following:
        meeting = None
        if ahead and (sloppy or iteration.is_sloppy) and not Iteration.is_quiet(session, f):
            meeting = Meeting()
        has_threads = ahead and (meeting is not None or Iteration.may_iterate_at_once(session, f))

        def begin(part: Dataset) -> Following:
            return Ahead(part.start, iteration, ahead, meeting) if has_threads else part.start(iteration)

        turns = _Turns(parts(iteration), begin, cycle, length, goes_on)
        return _one_by_one(turns) if meeting is None else _as_they_come(turns, meeting, iteration)

    def many() -> Blocks | None:
        source = input_dataset.blocks
        is_quiet = source is not None and source.quiet and Iteration.is_quiet(session, f)
        return in_blocks(parts, cycle, length, goes_on) if is_quiet else None

    made = Dataset(start, blocks=many)
    return made


@dataset("InterleaveDataset")
def interleave_dataset(
    input_dataset: Dataset,
    other_arguments: list[Value],
    cycle_length: torch.Tensor,
    block_length: torch.Tensor,
    *,
    f: NameAttrList,
    session: Session,
) -> Dataset:
    return _interleaved(input_dataset, other_arguments, cycle_length, block_length, f, session)


@dataset("ParallelInterleaveDatasetV2")
def parallel_interleave_dataset_v2(
    input_dataset: Dataset,
    other_arguments: list[Value],
    cycle_length: torch.Tensor,
    block_length: torch.Tensor,
    num_parallel_calls: torch.Tensor,
    *,
    f: NameAttrList,
    sloppy: bool,
    session: Session,
) -> Dataset:
    ahead, calls = max(2, int(block_length)), int(num_parallel_calls)
    if calls <= 0 and calls != -1:
        raise InvalidArgumentError(None, None, f"num_parallel_calls must be greater than zero, not {calls}.")
    if calls > int(cycle_length) > 0:
        wanted = (
            f"num_parallel_calls must be at most cycle_length: it is {calls}, with {int(cycle_length)} datasets open."
        )
        raise InvalidArgumentError(None, None, wanted)
    made = _interleaved(
        input_dataset, other_arguments, cycle_length, block_length, f, session, ahead=ahead, sloppy=sloppy
    )
    return telling_threads(made, calls)


@dataset("ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset")
def parallel_interleave_dataset(
    input_dataset: Dataset,
    other_arguments: list[Value],
    cycle_length: torch.Tensor,
    block_length: torch.Tensor,
    sloppy: torch.Tensor,
    buffer_output_elements: torch.Tensor,
    prefetch_input_elements: torch.Tensor,
    *,
    f: NameAttrList,
    session: Session,
) -> Dataset:
    ahead = {"buffer_output_elements": buffer_output_elements, "prefetch_input_elements": prefetch_input_elements}
    for name, (count, least) in zip(ahead, zip(ahead.values(), (1, 0))):
        if int(count) < least:
            raise InvalidArgumentError(None, None, f"`{name}` must be at least {least}, but is {int(count)}")
    return _interleaved(
        input_dataset,
        other_arguments,
        cycle_length,
        block_length,
        f,
        session,
        ahead=int(buffer_output_elements),
        sloppy=bool(sloppy),
        goes_on=True,
    )
