"""Random numbers by machine code have the bits of the kernels'."""

import math

import numpy as np
import pytest
import torch

from everflow.framework import dtypes
from everflow.kernels.random import distributions
from everflow.kernels.random.philox import Philox, Stream
from everflow.native import streams


@pytest.fixture(scope="module")
def made():
    before = dict(streams._fillers)
    streams.make()
    after = dict(streams._fillers)
    yield after
    streams._fillers.clear()
    streams._fillers.update(before)


@pytest.mark.parametrize("draw", [distributions.uniform, distributions.normal])
@pytest.mark.parametrize("shape", [[5], [1000], [7, 333], [300_001]])
@pytest.mark.parametrize("counter", [0, 5 << 64, (1 << 64) - 3, (1 << 128) - 2])
def test_the_same_bits(made, draw, shape, counter, monkeypatch):
    place = Philox(0x123456789ABCDEF0, counter)
    results = []
    for fillers in ({}, made):
        monkeypatch.setattr(streams, "_fillers", fillers)
        results.append(draw(place, shape, dtypes.float32))
    torch.testing.assert_close(*results, rtol=0, atol=0)
    assert results[1].shape == torch.Size(shape)


@pytest.mark.parametrize("blocks", [1, 48, 70_001])
def test_the_same_words(made, blocks, monkeypatch):
    words = []
    for fillers in ({}, made):
        monkeypatch.setattr(streams, "_fillers", fillers)
        words.append(Philox(0x123456789ABCDEF0, (1 << 64) - 3).words(blocks, 2))
    np.testing.assert_array_equal(*words)


def test_runs_of_an_op_follow_each_other(made, monkeypatch):
    drawn = []
    for fillers in ({}, made):
        monkeypatch.setattr(streams, "_fillers", fillers)
        stream = Stream(1, 2)
        drawn.append([distributions.uniform(stream.reserve(256, 100), [400], dtypes.float32).numpy() for _ in range(4)])
    np.testing.assert_array_equal(*drawn)


def test_code_is_made_once_many_numbers_were_drawn(monkeypatch):
    jobs = []
    monkeypatch.setattr(streams, "_fillers", {})
    monkeypatch.setattr(streams, "_drawn", 0)
    monkeypatch.setattr(streams.BACKGROUND, "submit", jobs.append)
    blocks = math.ceil(streams.ENOUGH / 4 / 10)
    for run in range(1, 30):
        assert not streams.fill(streams.UNIFORM, 0, 1, 2, blocks)
        assert len(jobs) == (run >= 10)
