"""Kernels that draw from a generator whose state is a variable: `tf.random.experimental.Generator`."""

from __future__ import annotations

import math
import secrets

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels import random
from everflow.kernels.philox import Philox
from everflow.kernels.registry import kernel
from everflow.kernels.tensors import from_numpy

_PHILOX = 1
_MASK64 = (1 << 64) - 1


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _advanced(resource, algorithm, blocks: int) -> Philox:
    """The place the variable's state says; the state is moved on by so many blocks."""
    if int(algorithm) != _PHILOX:
        raise InvalidArgumentError(None, None, f"Unsupported algorithm id: {int(algorithm)}")
    state = resource.read()
    if state.dim() != 1 or state.numel() < 3:
        raise InvalidArgumentError(None, None, f"The state of a Philox generator has three numbers, got shape {list(state.shape)}")
    low, high, key = (int(v) & _MASK64 for v in state[:3].tolist())
    place = Philox(key, low | high << 64)
    after = place.skipped(blocks).counter
    state[0], state[1] = _signed(after & _MASK64), _signed(after >> 64)
    return place


def _full_integers(place: Philox, sizes: list[int], dtype) -> torch.Tensor:
    """Integers over the whole range of a type."""
    count = math.prod(sizes)
    if dtype in (dtypes.int64, dtypes.uint64):
        values = place.words(-(-count // 2)).view(np.uint64).ravel()[:count]
    else:
        values = place.words(-(-count // 4)).ravel()[:count]
    return from_numpy(values.view(np.dtype(dtype.as_numpy_dtype)).reshape(sizes))


def _register(op_type, make):
    @kernel(op_type)
    def run(resource, algorithm, shape, *, dtype):
        sizes = random.shape_of(shape)
        return make(_advanced(resource, algorithm, math.prod(sizes) * random.RESERVED_PER_VALUE), sizes, dtype)


_register("StatefulUniform", random.uniform)
_register("StatefulStandardNormalV2", random.normal)
_register("StatefulTruncatedNormal", random.truncated_normal)
_register("StatefulUniformFullInt", _full_integers)


@kernel("StatefulUniformInt")
def stateful_uniform_int(resource, algorithm, shape, minval, maxval, *, dtype):
    sizes = random.shape_of(shape)
    low, high = random.checked_range(minval, maxval)
    place = _advanced(resource, algorithm, math.prod(sizes) * random.RESERVED_PER_VALUE)
    if dtype in (dtypes.int32, dtypes.int64):
        return random.uniform_int(place, sizes, low, high, dtype)
    span = np.dtype(dtype.as_numpy_dtype).type(high - low)
    values = _full_integers(place, sizes, dtype).numpy() % span + np.dtype(dtype.as_numpy_dtype).type(low)
    return from_numpy(np.asarray(values))


@kernel("RngSkip")
def rng_skip(resource, algorithm, delta):
    _advanced(resource, algorithm, int(delta) & _MASK64)


@kernel("NonDeterministicInts")
def non_deterministic_ints(shape, *, dtype):
    sizes = random.shape_of(shape)
    kind = np.dtype(dtype.as_numpy_dtype)
    return from_numpy(np.frombuffer(secrets.token_bytes(math.prod(sizes) * kind.itemsize), kind).reshape(sizes))
