"""Windows that slide over a dataset: each one a dataset (`Dataset.window`), or a batch
(`tf.contrib.data.sliding_window_batch`).
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.batches import batched
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset, from_iterable

if TYPE_CHECKING:
    import torch


@dataset("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def sliding_window_dataset(
    input_dataset: Dataset, window_size: torch.Tensor, window_shift: torch.Tensor, window_stride: torch.Tensor
) -> Dataset:
    size, shift, stride = int(window_size), int(window_shift), int(window_stride)
    for what, number in (("Window size", size), ("Window shift", shift), ("Window stride", stride)):
        if number <= 0:
            raise InvalidArgumentError(None, None, f"{what} must be greater than zero.")
    span = (size - 1) * stride + 1

    def start(iteration: Iteration) -> Following:
        following, held, to_drop = input_dataset.start(iteration), collections.deque(), 0

        def slide() -> Element:
            nonlocal to_drop
            while to_drop:
                # Where windows leave gaps, elements are dropped that no window holds.
                held.popleft() if held else following()
                to_drop -= 1
            while len(held) < span:
                held.append(following())
            to_drop = shift
            return batched([held[i] for i in range(0, span, stride)])

        return slide

    return Dataset(start)


@dataset("WindowDataset")
def window_dataset(
    input_dataset: Dataset, size: torch.Tensor, shift: torch.Tensor, stride: torch.Tensor, drop_remainder: torch.Tensor
) -> Dataset:
    step_between, step_within, whole = int(shift), int(stride), bool(drop_remainder)
    for name, value in (("size", size), ("shift", shift), ("stride", stride)):
        if int(value) <= 0:
            raise InvalidArgumentError(None, None, f"Window {name} must be greater than zero.")
    span = (int(size) - 1) * step_within + 1

    def start(iteration: Iteration) -> Following:
        following, to_skip, ended = input_dataset.start(iteration), 0, False
        buffer: list[Element | Exception] = []  # an error stands for its element in all windows that it is in

        def window() -> Element:
            nonlocal to_skip, ended
            while not ended and len(buffer) < span:
                try:
                    element: Element | Exception = following()
                except End:
                    ended = True
                    break
                except Exception as e:
                    iteration.check()
                    element = e
                if to_skip:
                    to_skip -= 1
                else:
                    buffer.append(element)
            if not buffer or (whole and len(buffer) < span):
                buffer.clear()
                raise End
            chosen = buffer[:span:step_within]
            if step_between >= len(buffer):
                to_skip = step_between - len(buffer)
                buffer.clear()
            else:
                del buffer[:step_between]
            elements = [element for element in chosen if not isinstance(element, Exception)]
            if len(elements) < len(chosen):
                raise next(element for element in chosen if isinstance(element, Exception))
            return tuple(_components(list(column)) for column in zip(*elements, strict=True))

        return window

    known = input_dataset.cardinality
    if known >= 0:
        known = max(0, (known - span) // step_between + 1) if whole else -(-known // step_between)
    return Dataset(start, known)


def _components(values: list[torch.Tensor]) -> Dataset:
    return from_iterable(lambda: [(v,) for v in values], len(values))
