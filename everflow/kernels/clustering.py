"""Clusters of points: nearest centres, and where to begin: k-means++ and its approximation by Markov chains."""

from __future__ import annotations

import math

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import fresh


class _Numbers:
    """Random numbers one at a time, from the words of a Philox stream."""

    def __init__(self, seed: int) -> None:
        self._place = Philox(seed, 0)
        self._words: list[int] = []

    def word(self) -> int:
        if not self._words:
            self._words = list(self._place.block())
            self._place = self._place.skipped(1)
        return self._words.pop(0)

    def below(self, n: int) -> int:
        """A whole number below n, from two words; those that would favour small ones are skipped."""
        power_of_two, least = n & (n - 1) == 0, (2**64 - 1) % n + 1
        while True:
            value = self.word() | self.word() << 32
            if power_of_two or value >= least:
                return value % n

    def float32(self) -> np.float32:
        """A number in [0, 1) from the lower 23 bits of a word."""
        return np.float32((self.word() & 0x7FFFFF) * 2.0**-23)


@fresh("NearestNeighbors")
def nearest_neighbors(
    points: torch.Tensor, centers: torch.Tensor, k: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    count = int(k)
    if points.shape[1] != centers.shape[1]:
        raise InvalidArgumentError(
            None, None, f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}."
        )
    # Half the squared distance without the point's own part, which is the same for all centres.
    partial = 0.5 * (centers * centers).sum(1) - points @ centers.mT
    nearest, indices = torch.sort(partial, dim=1, stable=True)
    nearest, indices = nearest[:, :count], indices[:, :count]
    distances = 2.0 * (nearest + 0.5 * (points * points).sum(1, keepdim=True))
    return indices.contiguous(), distances.clamp_(min=0.0)


@fresh("KmeansPlusPlusInitialization")
def kmeans_plus_plus(
    points: torch.Tensor, num_to_sample: torch.Tensor, seed: torch.Tensor, num_retries_per_sample: torch.Tensor
) -> torch.Tensor:
    """Points that are far from each other: each is drawn with the squared distance to those drawn before as its weight."""
    wanted, retries, array = int(num_to_sample), int(num_retries_per_sample), points.numpy()
    if wanted <= 0:
        raise InvalidArgumentError(None, None, f"Expected num_to_sample > 0, got {wanted}.")
    if wanted > len(array):
        raise InvalidArgumentError(None, None, f"Expected num_to_sample <= points.rows(). {wanted} vs {len(array)}.")
    if retries < 0:
        retries = int(2 + math.log(wanted))
    numbers = _Numbers(int(seed))
    norms = (array * array).sum(1)

    def distances_to(index: int) -> np.ndarray:
        return np.maximum(norms - 2 * (array @ array[index]) + norms[index], 0)

    chosen, nearest = [], np.full(len(array), np.inf, np.float32)
    for _ in range(wanted):
        cumulative = np.cumsum(nearest, dtype=np.float64) if chosen else None
        lowest = None
        for _ in range(1 + retries):
            if cumulative is None:
                index = numbers.below(len(array))
            else:
                index = int(np.searchsorted(cumulative, numbers.float32() * cumulative[-1], side="right"))
            candidate = np.minimum(nearest, distances_to(min(index, len(array) - 1)))
            potential = candidate.sum()
            if lowest is None or potential < lowest:
                lowest, best, nearest_of_best = potential, index, candidate
        chosen.append(best)
        nearest = nearest_of_best
    return points[torch.tensor(chosen)]


@fresh("KMC2ChainInitialization")
def kmc2_chain(distances: torch.Tensor, seed: torch.Tensor) -> torch.Tensor:
    """The end of a Markov chain that goes on to a point with the ratio of the distances as its chance."""
    numbers, selected = _Numbers(int(seed)), 0
    values = distances.numpy()
    for index in range(1, len(values)):
        if values[index] > numbers.float32() * values[selected]:
            selected = index
    return torch.tensor(selected)
