"""What datasets do with many elements at a time: choose some of them, join them, call functions for all of them at once.

Elements, their order and their errors are those of the forms that go one by one; a function that fails for a block is
called for each of its elements, so that the error comes where it belongs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.kernels.data.datasets import Blocks, Dataset, Element, End, Following, Iteration, Lists, Take
from everflow.kernels.queues.queues import rows_of

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, Value


# How many elements are read ahead where nobody sees it.
AHEAD = 64


def size_of(block: Any) -> int:
    """How many elements a block has."""
    return len(block) if isinstance(block, np.ndarray) else len(block[0])


def chosen(block: Any, which: slice | np.ndarray) -> Any:
    """Some elements of a block."""
    if isinstance(block, np.ndarray):
        return block[which]
    mask = torch.from_numpy(which) if isinstance(which, np.ndarray) else which
    return tuple(c[mask] if isinstance(c, torch.Tensor) else c[which] for c in block)


def rows(block: tuple[AnyTensor | Lists, ...]) -> list[Element]:
    """The elements of a block one by one."""
    return list(zip(*(c.rows() if isinstance(c, Lists) else rows_of(c) for c in block), strict=True))


def one_by_one(source: Blocks, iteration: Iteration) -> Following:
    """The elements of blocks, which are read ahead."""
    take = source.start_columns(iteration)
    waiting: deque[Element] = deque()

    def following() -> Element:
        if not waiting:
            waiting.extend(rows(take(AHEAD)))
        return waiting.popleft()

    return following


def one_row(element: Element) -> tuple[AnyTensor, ...]:
    """An element as a block of one."""
    return tuple(value[None] for value in element)


def of(dataset: Dataset) -> Blocks:
    """A dataset's elements many at a time; if it has no such form, they are put together from single ones."""
    if dataset.blocks is not None:
        return dataset.blocks

    def start(iteration: Iteration) -> Take:
        following = dataset.start(iteration)
        waiting: deque[Element] = deque()
        error: Exception | None = None  # that of the element after them

        def take(n: int) -> tuple[AnyTensor, ...]:
            nonlocal error
            try:
                while error is None and len(waiting) < n:
                    waiting.append(following())
            except Exception as e:
                error = e
            if not waiting:
                failure, error = error, None
                assert failure is not None
                raise failure
            shapes = _shapes(waiting[0])
            alike = [waiting.popleft()]
            while waiting and len(alike) < n and _shapes(waiting[0]) == shapes:
                alike.append(waiting.popleft())
            return stacked(alike)

        return take

    return Blocks(start)


def _shapes(element: Element) -> list[Sequence[int]]:
    return [getattr(value, "shape", ()) for value in element]


def stacked(elements: Sequence[Element]) -> tuple[AnyTensor, ...]:
    """Elements of the same shapes as a block."""
    return tuple(_stacked(column) for column in zip(*elements, strict=True))


def _stacked(values: tuple[Value, ...]) -> AnyTensor:
    if isinstance(values[0], torch.Tensor):
        return torch.stack(values)
    out = np.empty((len(values), *getattr(values[0], "shape", ())), object)
    for i, value in enumerate(values):
        out[i] = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return out


# --- choosing and joining --------------------------------------------------------------------


def taken(source: Blocks | None, count: int) -> Blocks | None:
    if source is None or count < 0:
        return source

    def start(iteration: Iteration) -> Take:
        following, left = source.start(iteration), count

        def take(n: int) -> Any:
            nonlocal left
            if left == 0:
                raise End
            block = following(min(n, left))
            left -= size_of(block)
            return block

        return take

    return Blocks(start, source.columns, quiet=source.quiet)


def skipped(source: Blocks | None, count: int) -> Blocks | None:
    if source is None or count < 0:
        return None

    def start(iteration: Iteration) -> Take:
        following, left = source.start(iteration), count

        def take(n: int) -> Any:
            nonlocal left
            while left > 0:
                left -= size_of(following(min(left, 1024)))
            return following(n)

        return take

    return Blocks(start, source.columns, quiet=source.quiet)


def sharded(source: Blocks | None, shards: int, mine: int) -> Blocks | None:
    if source is None:
        return None

    def start(iteration: Iteration) -> Take:
        following, position = source.start(iteration), 0

        def take(n: int) -> Any:
            nonlocal position
            while True:
                # So far as to the n-th that is mine, and no further.
                block = following((mine - position) % shards + (n - 1) * shards + 1)
                first = (mine - position) % shards
                position += size_of(block)
                if first < size_of(block):
                    return chosen(block, slice(first, None, shards))

        return take

    return Blocks(start, source.columns, quiet=source.quiet)


def repeated(dataset: Dataset, count: int) -> Blocks | None:
    source = dataset.blocks
    if source is None or count == 1:
        return source

    def start(iteration: Iteration) -> Take:
        following: Take | None = None
        done, empty = 0, False

        def take(n: int) -> Any:
            nonlocal following, done, empty
            while not empty and (count < 0 or done < count):
                fresh = following is None
                if following is None:
                    following = source.start(iteration)
                try:
                    return following(n)
                except End:
                    following = None
                    done += 1
                    empty = fresh and count < 0  # else it would look for a first element for ever
            raise End

        return take

    return Blocks(start, source.columns, quiet=source.quiet)


def concatenated(datasets: Sequence[Dataset]) -> Blocks | None:
    if all(dataset.blocks is None for dataset in datasets):
        return None
    parts = [of(dataset) for dataset in datasets]

    def start(iteration: Iteration) -> Take:
        following, at = parts[0].start_columns(iteration), 0

        def take(n: int) -> Any:
            nonlocal following, at
            while True:
                try:
                    return following(n)
                except End:
                    if at == len(parts) - 1:
                        raise
                at += 1
                following = parts[at].start_columns(iteration)

        return take

    return Blocks(start, quiet=all(part.quiet for part in parts))


def flattened(parts: Callable[[Iteration], Callable[[], Dataset]], quiet: bool) -> Blocks:
    """The elements of datasets one after the other; `parts(iteration)` returns a function that gives the next one."""

    def start(iteration: Iteration) -> Take:
        next_part, following = parts(iteration), None

        def take(n: int) -> Any:
            nonlocal following
            while True:
                if following is None:
                    following = of(next_part()).start_columns(iteration)
                try:
                    return following(n)
                except End:
                    following = None

        return take

    return Blocks(start, quiet=quiet)


def again(kept: Sequence[tuple[AnyTensor, ...]]) -> Blocks:
    """Blocks that were kept, cut as they are asked for."""

    def start(iteration: Iteration) -> Take:
        waiting = deque(kept)

        def take(n: int) -> tuple[AnyTensor, ...]:
            iteration.check()
            if not waiting:
                raise End
            block = waiting.popleft()
            if size_of(block) <= n:
                return block
            waiting.appendleft(chosen(block, slice(n, None)))
            return chosen(block, slice(n))

        return take

    return Blocks(start, quiet=True)


def zipped(datasets: Sequence[Dataset]) -> Blocks | None:
    if any(dataset.blocks is None for dataset in datasets):
        return None  # elements of one may be gone when another fails or ends
    parts = [of(dataset) for dataset in datasets]

    def start(iteration: Iteration) -> Take:
        following = [part.start_columns(iteration) for part in parts]
        # What was taken of each part before another failed; where that was, each of those before it loses an element.
        ahead: list[Any] = [None] * len(parts)

        def next_of(i: int, n: int) -> Any:
            block, ahead[i] = ahead[i], None
            if block is None:
                return following[i](n)
            if size_of(block) > n:
                ahead[i] = chosen(block, slice(n, None))
            return chosen(block, slice(n))

        def take(n: int) -> Any:
            blocks: list[Any] = []
            for i in range(len(parts)):
                try:
                    blocks.append(next_of(i, n))
                except BaseException:
                    for j, block in enumerate(blocks):
                        _put_back(ahead, j, chosen(block, slice(1, None)))
                    raise
                n = size_of(blocks[-1])
            for i, block in enumerate(blocks):
                _put_back(ahead, i, chosen(block, slice(n, None)))
            return tuple(column for block in blocks for column in chosen_columns(block, n))

        return take

    return Blocks(start)


def chosen_columns(block: tuple[AnyTensor, ...], n: int) -> tuple[AnyTensor, ...]:
    return block if size_of(block) == n else chosen(block, slice(n))


def _put_back(ahead: list[Any], part: int, rest: tuple[AnyTensor, ...]) -> None:
    if size_of(rest):
        before = ahead[part]
        ahead[part] = rest if before is None else joined([rest, before])


def joined(blocks: Sequence[tuple[AnyTensor, ...]]) -> tuple[AnyTensor, ...]:
    """Blocks of elements of the same shapes as one."""
    if len(blocks) == 1:
        return blocks[0]
    columns = zip(*blocks, strict=True)
    return tuple(torch.cat(c) if isinstance(c[0], torch.Tensor) else np.concatenate(c) for c in columns)


def fit(blocks: Sequence[tuple[AnyTensor, ...]]) -> bool:
    """Whether the elements of blocks have the same shapes."""
    return all(a.shape[1:] == b.shape[1:] for block in blocks[1:] for a, b in zip(blocks[0], block, strict=True))


# --- functions -------------------------------------------------------------------------------


class Many:
    """A function for many elements: `call(*columns, step=step)` gives columns, some of which may be lists."""

    def __init__(self, call: Callable[..., Sequence[Value]], lists: Sequence[bool], quiet: bool = False) -> None:
        self._call, self.quiet, self.gives_lists = call, quiet, any(lists)
        self._lists = lists

    def __call__(self, block: tuple[AnyTensor | Lists, ...], step: Any) -> tuple[AnyTensor | Lists, ...]:
        given: list[Value] = []
        for column in block:
            given += [column.values, column.lengths] if isinstance(column, Lists) else [column]
        results = iter(self._call(*given, step=step))
        return tuple(Lists(next(results), next(results)) if is_list else next(results) for is_list in self._lists)


def mapped(
    dataset: Dataset, many: Many | None, for_one: Callable[[Iteration], Callable[..., Element]]
) -> Blocks | None:
    """The results of a function: of `many` for many elements, of `for_one(iteration)` for one."""
    return _called(dataset, many, for_one, lambda block, results: results)


def filtered(
    dataset: Dataset, many: Many | None, for_one: Callable[[Iteration], Callable[..., Element]]
) -> Blocks | None:
    """The elements for which a function is true."""

    def kept(block: tuple[AnyTensor, ...], results: tuple[Any, ...]) -> tuple[AnyTensor, ...] | None:
        wanted = results[0].numpy()
        return block if wanted.all() else chosen(block, wanted) if wanted.any() else None

    return _called(dataset, many, for_one, kept)


def _called(
    dataset: Dataset,
    many: Many | None,
    for_one: Callable[[Iteration], Callable[..., Element]],
    made_of: Callable[[tuple[AnyTensor, ...], tuple[Any, ...]], tuple[Any, ...] | None],
) -> Blocks | None:
    """What `made_of(block, results)` gives; where that is None, there is nothing of that block."""
    if many is None:
        return None
    source = of(dataset)

    def start(iteration: Iteration) -> Take:
        following, one = source.start_columns(iteration), for_one(iteration)
        waiting: deque[Element] = deque()  # of a block that failed
        fails_alone, works = False, True

        def alone() -> tuple[AnyTensor, ...] | None:
            nonlocal fails_alone, works
            element = waiting.popleft()
            try:
                results = one(*element)
            except BaseException:
                fails_alone = True
                raise
            if not waiting and not fails_alone:
                works = False  # such as elements whose results have different shapes
            return made_of(one_row(element), one_row(results))

        def together(block: tuple[AnyTensor, ...]) -> tuple[AnyTensor, ...] | None:
            nonlocal fails_alone
            if works and size_of(block) > 1:
                try:
                    return made_of(block, many(block, iteration.step))
                except Exception:  # whatever it is: the elements are asked one by one, and whose error it is gives it
                    iteration.check()
            waiting.extend(rows(block))
            fails_alone = size_of(block) == 1
            return alone()

        def take(n: int) -> tuple[AnyTensor, ...]:
            while True:
                made = alone() if waiting else together(following(n))
                if made is not None:
                    return made

        return take

    return Blocks(start, quiet=source.quiet and many.quiet, lists=many.gives_lists)
