"""The times of a batch and of a prediction."""

from __future__ import annotations

import numpy as np


def batch_start_time(times):
    """The first time of each series, `[batch]`."""
    return times[:, 0]


def batch_end_time(times):
    """The last time of each series, `[batch]`."""
    return times[:, -1]


def times_after(previous_times, steps=None, times=None):
    """Times `[batch, steps]` to predict after some that were seen: the next `steps`, or those that are given."""
    if (steps is None) == (times is None):
        raise ValueError(
            f"Give either how many steps to predict or their times: steps={steps}, times={'given' if times is not None else None}"
        )
    last = np.asarray(previous_times)[..., -1]
    if times is None:
        return last[..., None] + np.arange(1, steps + 1, dtype=np.asarray(previous_times).dtype)
    times = np.atleast_2d(np.asarray(times))
    if np.any(times[:, 0] <= last):
        raise ValueError(f"A prediction begins after what was seen, at {last + 1} or later, not at {times[:, 0]}")
    return times
