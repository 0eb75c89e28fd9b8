"""Monotonic attention, which only moves forwards over the memory."""

from __future__ import annotations

import functools

import numpy as np

from everflow.contrib.seq2seq.attention import Additive, Multiplicative, _BaseAttentionMechanism
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow.maps import scan
from everflow.ops.math.clip import clip_by_value
from everflow.ops.random import distributions as random
from everflow.ops.variables import scope as scopes
from everflow.platform.signatures import takes


def safe_cumprod(x, *args, **kwargs):
    """The cumulative product of numbers in [0, 1], by logarithms, which stays finite; arguments as `tf.cumsum`'s."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return math.exp(math.cumsum(math.log(clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """The attention given the probabilities of choosing each step and the previous attention.

    `mode` is "recursive" (exact, slow), "parallel" (may be inexact where probabilities are near 0 or 1) or "hard"
    (probabilities are 0 or 1).
    """
    p_choose_i = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous_attention = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch_size = p_choose_i.shape.size(0) or array.shape(p_choose_i)[0]
        shifted = array.concat([array.ones((batch_size, 1)), 1 - p_choose_i[:, :-1]], 1)
        steps = [array.transpose(shifted), array.transpose(previous_attention)]
        start = array.zeros((batch_size,))
        left = scan(lambda x, yz: array.reshape(yz[0] * x + yz[1], (batch_size,)), steps, start)
        return p_choose_i * array.transpose(left)
    if mode == "parallel":
        passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        return p_choose_i * passed * math.cumsum(previous_attention / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p_choose_i *= math.cumsum(previous_attention, axis=1)
        return p_choose_i * math.cumprod(1 - p_choose_i, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _monotonic_probability_fn(score, previous_alignments, sigmoid_noise, mode, seed=None):
    if sigmoid_noise > 0:
        score += sigmoid_noise * random.random_normal(array.shape(score), dtype=score.dtype, seed=seed)
    p_choose_i = math.cast(score > 0, score.dtype) if mode == "hard" else math.sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """Starts with all attention on the first step."""

    def _construct(self, num_units, memory, *, sigmoid_noise, sigmoid_noise_seed, mode, score_bias_init, **settings):
        draws = {"sigmoid_noise": sigmoid_noise, "seed": sigmoid_noise_seed, "mode": mode}
        super()._construct(num_units, memory, functools.partial(_monotonic_probability_fn, **draws), **settings)
        self._score_bias_init = score_bias_init

    def initial_alignments(self, batch_size, dtype):
        return array.one_hot(array.zeros((batch_size,), dtype=dtypes.int32), self._alignments_size, dtype=dtype)

    def _score(self, query):
        score = super()._score(query)
        return score + scopes.get_variable("attention_score_bias", dtype=score.dtype, initializer=self._score_bias_init)


_MONOTONIC = {
    "score_mask_value": None,
    "sigmoid_noise": 0.0,
    "sigmoid_noise_seed": None,
    "score_bias_init": 0.0,
    "mode": "parallel",
    "dtype": None,
}


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism, Additive):
    """Monotonic attention with additive scores."""

    _scope = "bahdanau_monotonic_attention"

    @takes({**_MONOTONIC, "name": "BahdanauMonotonicAttention"})
    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, **given):
        self._construct(num_units, memory, memory_sequence_length=memory_sequence_length, **given)
        self._normalize = normalize


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism, Multiplicative):
    """Monotonic attention with multiplicative scores."""

    _scope = "luong_monotonic_attention"

    @takes({**_MONOTONIC, "name": "LuongMonotonicAttention"})
    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, **given):
        self._construct(num_units, memory, memory_sequence_length=memory_sequence_length, **given)
        self._scale = scale
