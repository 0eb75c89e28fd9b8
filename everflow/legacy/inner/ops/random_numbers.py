"""Names that programs take from inside tensorflow.python.ops.stateful_random_ops: the numbers its generators are made of."""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.ops.random import generators

DEFAULT_ALGORITHM = generators.RNG_ALG_PHILOX
RNG_ALG_THREEFRY = 2
PHILOX_STATE_SIZE = 3
THREEFRY_STATE_SIZE = 2
ALGORITHM_TYPE = SEED_TYPE = STATE_TYPE = "int64"
SEED_TYPE_BITS = dtypes.int64.size * 8
SEED_MIN = MIN_INT64 = dtypes.int64.min
SEED_MAX = MAX_INT64 = dtypes.int64.max
SEED_UINT_SPAN = UINT64_SPAN = 1 << 64
SEED_BIT_MASK = SEED_UINT_SPAN - 1
SEED_SIZE = 16  # Bytes, two seeds.


def __getattr__(name: str) -> Any:
    if name == "global_generator":  # The one there is now, None before it was asked for.
        return generators._global[0] if generators._global else None
    raise AttributeError(name)
