"""Kernels of distributions made by rejection: gamma and Poisson.

Every output value has its own stretch of the stream and takes from it until a candidate is accepted, so all values can
be tried at once and the few that were rejected tried again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.kernels.facts import Effect
from everflow.kernels.math import libm
from everflow.kernels.random.distributions import RESERVED_PER_VALUE, box_muller, doubles, shape_of, stream_of
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session

_GAMMA_SQUEEZE = 0.0331


class Draws:
    """Uniform and normal float64 values for many outputs at once, each from its own stretch of a stream.

    A block gives a pair of values; the second one of a pair is used first.
    """

    def __init__(self, place: Philox, outputs: np.ndarray) -> None:
        self._place = place
        self._block = outputs.astype(np.uint64) * np.uint64(RESERVED_PER_VALUE)
        self._pairs = {
            kind: (np.empty((len(outputs), 2)), np.zeros(len(outputs), np.int64)) for kind in (doubles, box_muller)
        }

    def _take(self, kind: Callable[..., np.ndarray], who: np.ndarray) -> np.ndarray:
        values, left = self._pairs[kind]
        empty = who[left[who] == 0]
        if len(empty):
            values[empty] = kind(self._place.words_at(self._block[empty]))
            left[empty] = 2
            self._block[empty] += np.uint64(1)
        left[who] -= 1
        return values[who, left[who]]

    def uniform(self, who: np.ndarray) -> np.ndarray:
        """The next uniform value of each of these outputs."""
        return self._take(doubles, who)

    def normal(self, who: np.ndarray) -> np.ndarray:
        """The next normal value of each of these outputs."""
        return self._take(box_muller, who)


def gamma(place: Philox, alpha: np.ndarray, samples: int) -> np.ndarray:
    """Gamma values of scale one: an [alphas, samples] array. Marsaglia and Tsang's method; below one by way of alpha +
    1.
    """
    concentration = np.repeat(alpha.astype(np.float64).ravel(), samples)
    result = np.full(concentration.shape, np.nan)
    draws = Draws(place, np.arange(concentration.size))
    exponential = np.flatnonzero(concentration == 1.0)
    result[exponential] = -libm.double_log(1.0 - draws.uniform(exponential))
    boosted = concentration < 1.0
    d = np.where(boosted, concentration + 2.0 / 3.0, concentration - 1.0 / 3.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of alphas without a distribution
        c = 1.0 / 3.0 / np.sqrt(d)
    trying = np.flatnonzero(concentration != 1.0)
    trying = trying[concentration[trying] > 0]
    with np.errstate(divide="ignore"):
        while len(trying):
            x = draws.normal(trying)
            v = 1.0 + c[trying] * x
            able = v > 0
            who, x, v = trying[able], x[able], v[able] * v[able] * v[able]
            u = draws.uniform(who)
            square = x * x
            accepted = (u < 1.0 - _GAMMA_SQUEEZE * square * square) | (
                np.log(u) < 0.5 * square + d[who] * (1.0 - v + np.log(v))
            )
            done = who[accepted]
            value = d[done] * v[accepted]
            small = np.flatnonzero(boosted[done])
            value[small] *= libm.double_power(draws.uniform(done[small]), 1.0 / concentration[done[small]])
            result[done] = value
            trying = np.setdiff1d(trying, done, assume_unique=True)
    return result.reshape(-1, samples)


def poisson(place: Philox, rate: np.ndarray, samples: int) -> np.ndarray:
    """Poisson values: a [rates, samples] array. Knuth's products below ten, Hörmann's transformed rejection from there
    on.
    """
    rates = np.repeat(rate.astype(np.float64).ravel(), samples)
    result = np.full(rates.shape, np.nan)
    draws = Draws(place, np.arange(rates.size))

    small = np.flatnonzero((rates >= 0) & (rates < 10))
    limit = np.exp(-rates)
    product, count = np.ones(rates.shape), np.zeros(rates.shape)
    while len(small):
        product[small] *= draws.uniform(small)
        done = product[small] <= limit[small]
        result[small[done]] = count[small[done]]
        small = small[~done]
        count[small] += 1

    large = np.flatnonzero((rates >= 10) & np.isfinite(rates))
    b = 0.931 + 2.53 * np.sqrt(np.maximum(rates, 0))
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    with np.errstate(divide="ignore", invalid="ignore"):
        while len(large):
            u = draws.uniform(large) - 0.5
            v = draws.uniform(large)
            shifted = 0.5 - np.abs(u)
            k = np.floor((2 * a[large] / shifted + b[large]) * u + rates[large] + 0.43)
            quick = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b[large] - 2))
            hopeless = (k < 0) | ((shifted < 0.013) & (v > shifted))
            left = np.log(v * inverse_alpha[large] / (a[large] / (shifted * shifted) + b[large]))
            right = -rates[large] + k * np.log(rates[large]) - torch.lgamma(torch.from_numpy(k + 1)).numpy()
            accepted = quick | (~hopeless & (left <= right))
            result[large[accepted]] = k[accepted]
            large = large[~accepted]
    return result.reshape(-1, samples)


def _sampled(
    make: Callable[..., np.ndarray],
    shape: torch.Tensor,
    parameter: torch.Tensor,
    dtype: DType,
    node: Node,
    session: Session,
) -> torch.Tensor:
    """Samples of shape `shape` for each parameter, laid out with the samples in front."""
    sizes = shape_of(shape)
    samples = math.prod(sizes)
    if not samples * parameter.numel():
        return torch.empty([*sizes, *parameter.shape], dtype=torch_dtype(dtype))
    place = stream_of(node, session).reserve(samples * parameter.numel() * RESERVED_PER_VALUE)
    values = torch.from_numpy(make(place, parameter.to(torch.float64).numpy(), samples))
    return values.to(torch_dtype(dtype)).t().reshape([*sizes, *parameter.shape])


@fresh("RandomGamma", effect=Effect.RANDOM)
def random_gamma(shape: torch.Tensor, alpha: torch.Tensor, *, T: DType, node: Node, session: Session) -> torch.Tensor:
    return _sampled(gamma, shape, alpha, T, node, session)


@fresh("RandomPoisson", effect=Effect.RANDOM)
def random_poisson(
    shape: torch.Tensor, rate: torch.Tensor, *, dtype: DType, node: Node, session: Session
) -> torch.Tensor:
    return _sampled(poisson, shape, rate, dtype, node, session)


@fresh("RandomPoissonV2", effect=Effect.RANDOM)
def random_poisson_v2(
    shape: torch.Tensor, rate: torch.Tensor, *, dtype: DType, node: Node, session: Session
) -> torch.Tensor:
    return _sampled(poisson, shape, rate, dtype, node, session)


# --- how a gamma sample moves with its concentration -------------------------------------------

# From here on the series would take hundreds of terms, and torch's asymptotic formula is good.
_LARGE_ALPHA = 100.0


@fresh("RandomGammaGrad")
def random_gamma_grad(alpha: torch.Tensor, sample: torch.Tensor) -> torch.Tensor:
    """-(dP/dalpha) / p(sample), P the distribution function and p its density, so that the sample's quantile stays."""
    a, x = torch.broadcast_tensors(alpha.to(torch.float64), sample.to(torch.float64))
    result = torch._standard_gamma_grad(a.contiguous(), x.contiguous())
    small = (a < _LARGE_ALPHA) & (x > 0) & (x < 2 * _LARGE_ALPHA)
    if bool(small.any()):
        result[small] = _gamma_grad_series(a[small], x[small])
    return result.to(alpha.dtype)


def _gamma_grad_series(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """By the power series of the incomplete gamma function, differentiated term by term."""
    term = torch.ones_like(x)
    total, slope, harmonic = term.clone(), torch.zeros_like(x), torch.zeros_like(x)
    n = 0
    while bool((term > 1e-17 * total).any()):
        n += 1
        term = term * (x / (a + n))
        harmonic = harmonic + 1.0 / (a + n)
        total = total + term
        slope = slope - term * harmonic
    # With density p, P = p * (x / alpha) * total; p cancels against the density in the denominator.
    return -(x / a) * (total * (torch.log(x) - torch.digamma(a + 1.0)) + slope)
