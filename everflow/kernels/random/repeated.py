"""Random numbers for several calls at once, each what the op would draw in one: pipelines draw those of a block before
its elements are shared out (`ops/functions/draws.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.facts import Effect
from everflow.kernels.random.distributions import (
    RESERVED_PER_VALUE,
    checked_range,
    normal,
    shape_of,
    stream_of,
    truncated_normal,
    uniform,
    uniform_int,
)
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session
    from everflow.kernels.random.philox import Philox


def _drawn(
    times: torch.Tensor,
    sizes: list[int],
    dtype: DType,
    node: Node,
    session: Session,
    once: Callable[[Philox], torch.Tensor],
    few: Callable[[np.ndarray], np.ndarray] | None,
) -> torch.Tensor:
    """`few` makes numbers of words, where each call needs no more than the four of a block, and each number one."""
    count, calls = math.prod(sizes), int(times)
    if not count or not calls:
        return torch.empty([calls, *sizes], dtype=torch_dtype(dtype))
    stretch = count * RESERVED_PER_VALUE
    place = stream_of(node, session).reserve(calls * stretch)
    if few is None or count > 4:
        return torch.stack([once(place.skipped(i * stretch)) for i in range(calls)])
    words = place.words_at(np.arange(calls, dtype=np.uint64) * np.uint64(stretch))[:, :count]
    return torch.from_numpy(few(words.astype(np.int64)).reshape(calls, *sizes))


def _fractions(words: np.ndarray) -> np.ndarray:
    return ((words & 0x7FFFFF) * 2.0**-23).astype(np.float32)


def _register(op_type: str, make: Callable[..., torch.Tensor]) -> None:
    @fresh(op_type, effect=Effect.RANDOM)
    def run(times: torch.Tensor, shape: torch.Tensor, *, dtype: DType, node: Node, session: Session) -> torch.Tensor:
        sizes = shape_of(shape)
        few = _fractions if make is uniform and dtype == dtypes.float32 else None
        return _drawn(times, sizes, dtype, node, session, lambda place: make(place, sizes, dtype), few)


_register("_RandomUniforms", uniform)
_register("_RandomStandardNormals", normal)
_register("_TruncatedNormals", truncated_normal)


@fresh("_RandomUniformInts", effect=Effect.RANDOM)
def random_uniform_ints(
    times: torch.Tensor,
    shape: torch.Tensor,
    minval: torch.Tensor,
    maxval: torch.Tensor,
    *,
    Tout: DType,
    node: Node,
    session: Session,
) -> torch.Tensor:
    sizes = shape_of(shape)
    low, high = checked_range(minval, maxval) if math.prod(sizes) else (0, 1)

    def few(words: np.ndarray) -> np.ndarray:
        return (words % (high - low) + low).astype(np.int32)

    def once(place: Philox) -> torch.Tensor:
        return uniform_int(place, sizes, low, high, Tout)

    return _drawn(times, sizes, Tout, node, session, once, few if Tout == dtypes.int32 else None)
