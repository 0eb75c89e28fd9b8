"""Names that programs take from inside tensorflow.python.ops.stateful_random_ops: the numbers its generators are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops.random import generators
from everflow.ops.random.generators import _signed64 as _uint_to_int

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

_STATE_SIZES = {DEFAULT_ALGORITHM: PHILOX_STATE_SIZE, RNG_ALG_THREEFRY: THREEFRY_STATE_SIZE}


def _get_state_size(alg: int) -> int:
    """How many numbers the state of an algorithm has."""
    if alg not in _STATE_SIZES:
        raise ValueError(f"There is no algorithm of number {alg}; these are {sorted(_STATE_SIZES)}")
    return _STATE_SIZES[alg]


def _convert_to_state_tensor(t: Any) -> Tensor:
    """Numbers as a tensor of a state's type; those beyond it, up to 64 bits, wrap round."""
    return convert_to_tensor(nest.map_structure(_wrapped, t), dtype=STATE_TYPE)


def _wrapped(value: Any) -> Any:
    # Only Python's own numbers can be too large for what they are to become.
    if not isinstance(value, int) or MIN_INT64 <= value <= MAX_INT64:
        return value
    return _uint_to_int(value) if value < UINT64_SPAN else value


def _shape_tensor(shape: Any) -> Tensor:
    """Sizes as a tensor; of int64 where there are none to tell from."""
    dtype = dtypes.int64 if isinstance(shape, (tuple, list)) and not shape else None
    return convert_to_tensor(shape, dtype=dtype, name="shape")


def _make_1d_state(state_size: int, seed: Any) -> np.ndarray:
    """The numbers of a state that a seed stands for: its 64 bits by 64 bits, or its numbers, with zeros in front."""
    return generators.numbers_of_seed(seed, state_size)


def _make_state_from_seed(seed: Any, alg: int) -> np.ndarray:
    """The state that an algorithm starts with for a seed."""
    return _make_1d_state(_get_state_size(alg), seed)


def __getattr__(name: str) -> Any:
    if name == "global_generator":  # The one there is now, None before it was asked for.
        return generators._global[0] if generators._global else None
    raise AttributeError(name)
