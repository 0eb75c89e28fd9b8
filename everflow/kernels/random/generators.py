"""Kernels that draw from a generator whose state is a variable: `tf.random.experimental.Generator`."""

from __future__ import annotations

import functools
import math
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import FRESH, Effect
from everflow.kernels.random import distributions as random
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import from_numpy, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.state import ResourceVariable

_PHILOX = 1
drawing = functools.partial(kernel, result=FRESH, writes=(0,), locks=True)
_MASK64 = (1 << 64) - 1


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _advanced(resource: ResourceVariable, algorithm: torch.Tensor, blocks: int) -> Philox:
    """The place the variable's state says; the state is moved on by so many blocks."""
    if int(algorithm) != _PHILOX:
        raise InvalidArgumentError(None, None, f"Unsupported algorithm id: {int(algorithm)}")
    state = resource.read()
    if state.dim() != 1 or state.numel() < 3:
        raise InvalidArgumentError(
            None, None, f"The state of a Philox generator has three numbers, got shape {list(state.shape)}"
        )
    low, high, key = (int(v) & _MASK64 for v in state[:3].tolist())
    place = Philox(key, low | high << 64)
    after = place.skipped(blocks).counter
    state[0], state[1] = _signed(after & _MASK64), _signed(after >> 64)
    return place


def _full_integers(place: Philox, sizes: list[int], dtype: DType) -> torch.Tensor:
    """Integers over the whole range of a type."""
    count = math.prod(sizes)
    if dtype in (dtypes.int64, dtypes.uint64):
        values = place.words(-(-count // 2)).view(np.uint64).ravel()[:count]
    else:
        values = place.words(-(-count // 4)).ravel()[:count]
    return from_numpy(values.view(np.dtype(dtype.as_numpy_dtype)).reshape(sizes))


def _register(op_type: str, make: Callable[..., torch.Tensor]) -> None:
    @drawing(op_type)
    def run(resource: ResourceVariable, algorithm: torch.Tensor, shape: torch.Tensor, *, dtype: DType) -> torch.Tensor:
        sizes = random.shape_of(shape)
        return make(_advanced(resource, algorithm, math.prod(sizes) * random.RESERVED_PER_VALUE), sizes, dtype)


_register("StatefulUniform", random.uniform)
_register("StatefulStandardNormalV2", random.normal)
_register("StatefulTruncatedNormal", random.truncated_normal)
_register("StatefulUniformFullInt", _full_integers)


@drawing("StatefulUniformInt")
def stateful_uniform_int(
    resource: ResourceVariable,
    algorithm: torch.Tensor,
    shape: torch.Tensor,
    minval: torch.Tensor,
    maxval: torch.Tensor,
    *,
    dtype: DType,
) -> torch.Tensor:
    sizes = random.shape_of(shape)
    low, high = random.checked_range(minval, maxval)
    place = _advanced(resource, algorithm, math.prod(sizes) * random.RESERVED_PER_VALUE)
    if dtype in (dtypes.int32, dtypes.int64):
        return random.uniform_int(place, sizes, low, high, dtype)
    span = np.dtype(dtype.as_numpy_dtype).type(high - low)
    values = _full_integers(place, sizes, dtype).numpy() % span + np.dtype(dtype.as_numpy_dtype).type(low)
    return from_numpy(np.asarray(values))


@kernel("RngSkip", writes=(0,), locks=True)
def rng_skip(resource: ResourceVariable, algorithm: torch.Tensor, delta: torch.Tensor) -> None:
    _advanced(resource, algorithm, int(delta) * random.RESERVED_PER_VALUE & _MASK64)


@fresh("NonDeterministicInts", effect=Effect.RANDOM)
def non_deterministic_ints(shape: torch.Tensor, *, dtype: DType) -> torch.Tensor:
    sizes = random.shape_of(shape)
    kind = np.dtype(dtype.as_numpy_dtype)
    return from_numpy(np.frombuffer(secrets.token_bytes(math.prod(sizes) * kind.itemsize), kind).reshape(sizes))


# --- binomial ---------------------------------------------------------------------------------

# Below this mean the successes are counted one by one; from it on, Hörmann's transformed rejection.
_SMALL_MEAN = 10.0
_RESERVED_FOR_BINOMIAL = 5150 * random.RESERVED_PER_VALUE


def _uniforms(place: Philox) -> Iterator[float]:
    """Uniform values without end, the second of each block first."""
    start = 0
    while True:
        for pair in random.doubles(place.words(64, start)).tolist():
            yield pair[1]
            yield pair[0]
        start += 64


def _stirling_tail(k: float) -> float:
    """What Stirling's formula leaves of the logarithm of k factorial."""
    return math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))


def _by_waiting(count: float, probability: float, uniforms: Iterator) -> int:
    """How many waiting times for a success fit into `count` tries."""
    passed, successes = 0.0, 0
    while True:
        passed += math.ceil(math.log(next(uniforms)) / math.log1p(-probability))
        if passed > count:
            return successes
        successes += 1


def _by_rejection(count: float, probability: float, uniforms: Iterator) -> int:
    deviation = math.sqrt(count * probability * (1 - probability))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * probability
    odds = probability / (1 - probability)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((count + 1) * probability)
    while True:
        u, v = next(uniforms) - 0.5, next(uniforms)
        shifted = 0.5 - abs(u)
        k = math.floor((2 * a / shifted + b) * u + count * probability + 0.5)
        if shifted >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if not 0 <= k <= count:
            continue
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(count - mode)
            - _stirling_tail(k)
            - _stirling_tail(count - k)
        )
        if math.log(v * alpha / (a / (shifted * shifted) + b)) <= bound:
            return k


def _binomial(count: float, probability: float, uniforms: Iterator) -> float:
    if math.isnan(count) or math.isnan(probability):
        return math.nan
    if count <= 0 or probability <= 0:
        return 0
    if probability >= 1:
        return count
    if probability > 0.5:
        return count - _binomial(count, 1 - probability, uniforms)
    method = _by_rejection if count * probability >= _SMALL_MEAN else _by_waiting
    return method(count, probability, uniforms)


@drawing("StatefulRandomBinomial")
def stateful_random_binomial(
    resource: ResourceVariable,
    algorithm: torch.Tensor,
    shape: torch.Tensor,
    counts: torch.Tensor,
    probs: torch.Tensor,
    *,
    dtype: DType,
) -> torch.Tensor:
    sizes = random.shape_of(shape)
    rows = sizes[0] if sizes and max(counts.numel(), probs.numel()) > 1 else 1
    for name, parameter in (("counts", counts), ("probs", probs)):
        if parameter.dim() > 1 or parameter.numel() not in (1, rows):
            raise InvalidArgumentError(
                None,
                None,
                f"Input {name} should have length 1 or shape[0], got shape: [{','.join(map(str, parameter.shape))}]",
            )
    uniforms = _uniforms(_advanced(resource, algorithm, _RESERVED_FOR_BINOMIAL))
    per_row = math.prod(sizes) // rows if rows else 0
    pairs = zip(counts.reshape(-1).expand(rows).tolist(), probs.reshape(-1).expand(rows).tolist())
    values = [_binomial(count, probability, uniforms) for count, probability in pairs for _ in range(per_row)]
    return torch.tensor(values, dtype=torch.float64).to(torch_dtype(dtype)).reshape(sizes)
