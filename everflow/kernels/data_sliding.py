"""Windows that slide over a dataset, each one a batch: `tf.contrib.data.sliding_window_batch`."""

from __future__ import annotations

import collections

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data import Dataset, batched
from everflow.kernels.registry import kernel


@kernel("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def sliding_window_dataset(input_dataset, window_size, window_shift, window_stride):
    size, shift, stride = int(window_size), int(window_shift), int(window_stride)
    for what, number in (("Window size", size), ("Window shift", shift), ("Window stride", stride)):
        if number <= 0:
            raise InvalidArgumentError(None, None, f"{what} must be greater than zero.")
    span = (size - 1) * stride + 1

    def start(iteration):
        following, held, to_drop = input_dataset.start(iteration), collections.deque(), 0

        def slide():
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
