"""Candidate samplers: a few classes drawn from many, with the counts to expect of each; and hits of true classes among
them.

They draw word by word from their op's stream, as TensorFlow's do, so that the same seeds give the same candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.random.distributions import stream_of
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Value

# What a run sets aside of its stream for each candidate, in 32-bit words.
_RESERVED_WORDS = 2048
_BLOCKS_AT_ONCE = 48
_FLOAT_MAX = float(np.finfo(np.float32).max)


class Words:
    """Values drawn one after another from a place in a stream."""

    def __init__(self, place: Philox) -> None:
        self._place = place
        self._left = np.empty(0, np.uint64)
        self._start = 0
        self._single = self._one_by_one()

    def _take(self, count: int) -> np.ndarray:
        while len(self._left) < count:
            # The first so many may have been made before.
            blocks = max(_BLOCKS_AT_ONCE, -(-count // 4)) if self._start else _BLOCKS_AT_ONCE
            made = self._place.words(blocks, self._start).ravel().astype(np.uint64)
            self._start += blocks
            self._left = np.concatenate([self._left, made]) if len(self._left) else made
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def _one_by_one(self) -> Iterator[int]:
        while True:
            yield from self._take(4 * _BLOCKS_AT_ONCE).tolist()

    def word(self) -> int:
        return next(self._single)

    def pairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The next `2 * count` words as two vectors: the first and the second of each pair."""
        taken = self._take(2 * count)
        return taken[::2], taken[1::2]

    def below(self, limit: int) -> int:
        """An integer in [0, limit) from one word; values that would favour small ones are drawn again."""
        accepted = (1 << 32) - (1 << 32) % limit
        while True:
            value = self.word()
            if value < accepted:
                return value % limit

    def fraction(self) -> float:
        return (self.word() & 0x7FFFFF) * 2.0**-23

    def double(self) -> float:
        return ((self.word() & 0xFFFFF) << 32 | self.word()) * 2.0**-52


class _Uniform:
    """Every class alike."""

    def __init__(self, size: int) -> None:
        self.size = size

    def draws(self, words: Words, count: int) -> list[int]:
        low, high = words.pairs(count)
        values = low | high << np.uint64(32)
        # Values that would favour small classes are passed over.
        largest = (1 << 64) - (1 << 64) % self.size - 1
        return (values[values <= np.uint64(largest)] % np.uint64(self.size)).tolist()

    def probability(self, classes: np.ndarray) -> np.ndarray:
        return np.full(classes.shape, 1.0 / self.size)


class _LogUniform:
    """Zipf's law: class k with log((k + 2) / (k + 1))."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._log_range = math.log1p(size)

    def draws(self, words: Words, count: int) -> list[int]:
        high, low = words.pairs(count)
        fractions = ((high & np.uint64(0xFFFFF)) << np.uint64(32) | low) * 2.0**-52
        return ((np.exp(fractions * self._log_range).astype(np.int64) - 1) % self.size).tolist()

    def probability(self, classes: np.ndarray) -> np.ndarray:
        return np.log((classes + 2.0) / (classes + 1.0)) / self._log_range


class _Fixed:
    """Given weights, drawn by Walker's alias method: a cell, then its class or the other one that shares the cell."""

    def __init__(self, weights: np.ndarray) -> None:
        self.size = len(weights)
        self._shares = weights / weights.sum()
        self._cells = self._share(weights * self.size / weights.sum())

    @staticmethod
    def _share(heights: np.ndarray) -> list[tuple[float, int]]:
        low = [i for i, height in enumerate(heights) if height < 1]
        high = [i for i, height in enumerate(heights) if height >= 1]
        cells = [(1.0, i) for i in range(len(heights))]
        while low and high:
            short, tall = low.pop(), high[-1]
            cells[short] = (float(heights[short]), tall)
            heights[tall] -= 1 - heights[short]
            if heights[tall] < 1:
                low.append(high.pop())
        return cells

    def draws(self, words: Words, count: int) -> list[int]:
        drawn = []
        for _ in range(count):
            fraction = words.fraction()
            cell = words.below(self.size)
            height, other = self._cells[cell]
            drawn.append(cell if fraction < height else other)
        return drawn

    def probability(self, classes: np.ndarray) -> np.ndarray:
        inside = (classes >= 0) & (classes < self.size)
        return np.where(inside, self._shares[np.where(inside, classes, 0)], 0.0)


class _Learned:
    """Weights that start at one and grow with each true class seen."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._weights = np.ones(size, np.int64)
        self._bounds = self._weights.cumsum()

    def draws(self, words: Words, count: int) -> list[int]:
        total = int(self._bounds[-1])
        return self._bounds.searchsorted([words.below(total) for _ in range(count)], side="right").tolist()

    def probability(self, classes: np.ndarray) -> np.ndarray:
        inside = (classes >= 0) & (classes < self.size)
        return np.where(inside, self._weights[np.where(inside, classes, 0)] / self._bounds[-1], 0.0)

    def learn(self, classes: np.ndarray) -> None:
        np.add.at(self._weights, classes[(classes >= 0) & (classes < self.size)], 1)
        self._bounds = self._weights.cumsum()


def _check_true(true_classes: torch.Tensor, num_true: int) -> None:
    if true_classes.dim() != 2:
        raise InvalidArgumentError(None, None, "true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        found = true_classes.shape[1]
        raise InvalidArgumentError(
            None, None, f"true_classes must have num_true columns, expected: {num_true} was: {found}"
        )


def _expected(probability: np.ndarray, tries: int, num_sampled: int) -> np.ndarray:
    """How often a class is expected in the sample; with rejected repeats, how probable it is that it is there."""
    probability = probability.astype(np.float32)  # every step is rounded to single precision, as TensorFlow does
    if tries == num_sampled:
        return probability * np.float32(num_sampled)
    with np.errstate(divide="ignore"):
        logarithm = np.log1p(-probability.astype(np.float64)).astype(np.float32)
    return -np.expm1((logarithm * np.float32(tries)).astype(np.float64)).astype(np.float32)


def _sample(
    sampler: Value,
    true_classes: torch.Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_true(true_classes, num_true)
    if unique and num_sampled > sampler.size:
        raise InvalidArgumentError(None, None, "Sampler's range is too small.")
    stretch = -(-_RESERVED_WORDS * num_sampled // 4)
    words = Words(stream_of(node, session).reserve(stretch, _BLOCKS_AT_ONCE))
    chosen: list[int] = []
    seen: set[int] = set()
    tries = 0
    # Some more than needed are drawn at once; what is left over is forgotten, for the stream's next stretch begins
    # elsewhere.
    spare = 4 + num_sampled // 4 if unique else 0
    while len(chosen) < num_sampled:
        for candidate in sampler.draws(words, num_sampled - len(chosen) + spare):
            tries += 1
            if not unique or candidate not in seen:
                seen.add(candidate)
                chosen.append(candidate)
                if len(chosen) == num_sampled:
                    break
    true, sampled = true_classes.numpy(), np.array(chosen, np.int64)
    both = _expected(sampler.probability(np.concatenate([true.ravel(), sampled])), tries, num_sampled)
    of_true, of_sampled = both[: true.size].reshape(true.shape), both[true.size :].copy()
    results = torch.from_numpy(sampled), torch.from_numpy(of_true), torch.from_numpy(of_sampled)
    if isinstance(sampler, _Learned):
        sampler.learn(true)
    return results


def _kept(node: Node, session: Session, factory: Callable[..., _Fixed]) -> Value:
    """The sampler of a node, which a session keeps from run to run."""
    return session.own("candidate_sampler", node.name, factory)


def _register(op_type: str, make: type) -> None:
    # What a learning sampler has seen shows in the samples of later runs.
    @fresh(op_type, effect=Effect.ACTS if make is _Learned else Effect.RANDOM)
    def draw(
        true_classes: torch.Tensor,
        *,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        node: Node,
        session: Session,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        sampler = _kept(node, session, lambda: make(range_max))
        return _sample(sampler, true_classes, num_true, num_sampled, unique, node, session)


for _op_type, _make in {
    "UniformCandidateSampler": _Uniform,
    "LogUniformCandidateSampler": _LogUniform,
    "LearnedUnigramCandidateSampler": _Learned,
    "ThreadUnsafeUnigramCandidateSampler": _Learned,
}.items():
    _register(_op_type, _make)


def _unigram_weights(
    vocab_file: str, unigrams: list[float], distortion: float, num_reserved_ids: int, num_shards: int, shard: int
) -> np.ndarray:
    """Weights of the classes of one shard: reserved ones that are never drawn, then those given, or the last fields of
    a file's lines.
    """
    if vocab_file:
        with open(vocab_file, encoding="utf-8") as file:
            unigrams = [float(line.rsplit(",", 1)[-1]) for line in file if line.strip()]
    weights = np.array([0.0] * num_reserved_ids + [float(np.float32(w)) ** distortion for w in unigrams])
    return weights.astype(np.float32).astype(np.float64)[shard::num_shards]


@fresh("FixedUnigramCandidateSampler", effect=Effect.RANDOM)
def fixed_unigram_candidate_sampler(
    true_classes: torch.Tensor,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str,
    distortion: float,
    num_reserved_ids: int,
    num_shards: int,
    shard: int,
    unigrams: list[float],
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    def make() -> _Fixed:
        if bool(vocab_file) == bool(unigrams):
            raise InvalidArgumentError(None, None, "Must provide exactly one of vocab_file and unigrams")
        weights = _unigram_weights(vocab_file, unigrams, distortion, num_reserved_ids, num_shards, shard)
        if len(weights) != range_max:
            raise InvalidArgumentError(None, None, f"range_max is {range_max} but there are {len(weights)} weights")
        return _Fixed(weights)

    return _sample(_kept(node, session, make), true_classes, num_true, num_sampled, unique, node, session)


@fresh("AllCandidateSampler", effect=Effect.PURE)
def all_candidate_sampler(
    true_classes: torch.Tensor, *, num_true: int, num_sampled: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_true(true_classes, num_true)
    return torch.arange(num_sampled), torch.ones(true_classes.shape), torch.ones(num_sampled)


@fresh("ComputeAccidentalHits")
def compute_accidental_hits(
    true_classes: torch.Tensor, sampled_candidates: torch.Tensor, *, num_true: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_true(true_classes, num_true)
    if sampled_candidates.dim() != 1:
        raise InvalidArgumentError(
            None, None, "sampled_candidates must be a vector, which is typically an output from CandidateSampler"
        )
    place = {candidate: index for index, candidate in enumerate(sampled_candidates.tolist())}
    hits = [(row, place[true]) for row, trues in enumerate(true_classes.tolist()) for true in trues if true in place]
    rows = torch.tensor([row for row, _ in hits], dtype=torch.int32)
    ids = torch.tensor([index for _, index in hits], dtype=torch.int64)
    return rows, ids, torch.full((len(hits),), -_FLOAT_MAX)
