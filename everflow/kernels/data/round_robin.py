"""Strings handed out in turn: `tf.contrib.input_pipeline`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.kernels.state import Ref
    from everflow.kernels.tensors import Strings


@fresh("ObtainNext", effect=Effect.ACTS, writes=(1,))
def obtain_next(list: Strings, counter: Ref) -> Strings:
    if list.ndim != 1 or not len(list):
        raise InvalidArgumentError(None, None, f"Expected a list with at least one string, got shape {list.shape}")
    buffer = counter.buffer()
    place = (int(buffer) + 1) % len(list)  # the counter is the place of the last string that was given
    buffer.fill_(place)
    return np.array(list[place], dtype=object)
