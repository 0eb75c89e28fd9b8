"""Strings handed out in turn: `tf.contrib.input_pipeline`."""

from __future__ import annotations

import numpy as np

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh


@fresh("ObtainNext", effect=Effect.ACTS, writes=(1,))
def obtain_next(list, counter):
    if list.ndim != 1 or not len(list):
        raise InvalidArgumentError(None, None, f"Expected a list with at least one string, got shape {list.shape}")
    buffer = counter.buffer()
    place = int(buffer)
    buffer.fill_(place + 1)
    return np.array(list[place % len(list)], dtype=object)
