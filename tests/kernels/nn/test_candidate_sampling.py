"""Candidate samplers against numbers TensorFlow drew."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.nn import candidate_sampling
from everflow.kernels.random import philox
from everflow.kernels.registry import lookup
from everflow.runtime.state import SessionState

FIXED = {
    "vocab_file": "",
    "distortion": 0.75,
    "num_reserved_ids": 0,
    "num_shards": 1,
    "shard": 0,
    "unigrams": list(range(1, 11)),
}
# op type, attributes, what TensorFlow 1.15.5 draws with the seeds (87654321, 5) in the first and in the second run
DRAWN = [
    ("UniformCandidateSampler", {}, [5, 8, 6, 1, 0, 4], [1, 0, 7, 4, 5, 3]),
    ("LogUniformCandidateSampler", {}, [0, 2, 4, 1, 7, 8], [4, 1, 2, 0, 7, 6]),
    ("FixedUnigramCandidateSampler", FIXED, [9, 6, 1, 8, 5, 0], [2, 9, 8, 4, 6, 5]),
    ("LearnedUnigramCandidateSampler", {"num_sampled": 4}, [1, 9, 4, 2], [7, 2, 0, 3]),
]


@pytest.mark.parametrize("op_type, attrs, first, second", DRAWN)
def test_candidate_samplers_draw_what_tensorflow_draws(op_type, attrs, first, second):
    entry = lookup(op_type)
    attrs = {"num_true": 1, "num_sampled": 6, "unique": True, "range_max": 10, **attrs}
    session, node = SessionState(), SimpleNamespace(name="sampler", attrs={"seed": 87654321, "seed2": 5})
    given = {name: attrs[name] for name in entry.attribute_names}
    for expected in (first, second):
        sampled, true_counts, counts = entry.function(torch.tensor([[0], [3]]), **given, node=node, session=session)
        assert sampled.tolist() == expected
        assert true_counts.shape == (2, 1) and counts.shape == sampled.shape


def test_expected_counts_are_probabilities_of_being_drawn():
    """Over many runs a class is in the sample about as often as its expected count says; of frequent ones the count
    says too much.
    """
    entry = lookup("LogUniformCandidateSampler")
    session, node = SessionState(), SimpleNamespace(name="sampler", attrs={"seed": 1, "seed2": 2})
    hits, expected = np.zeros(20), np.zeros(20)
    for _ in range(300):
        sampled, counts, _ = entry.function(
            torch.arange(20).view(20, 1),
            num_true=1,
            num_sampled=5,
            unique=True,
            range_max=20,
            node=node,
            session=session,
        )
        hits[sampled.numpy()] += 1
        expected += counts.numpy()[:, 0]
    np.testing.assert_allclose(hits[2:] / 300, expected[2:] / 300, atol=0.08)


def test_more_distinct_classes_than_there_are():
    entry = lookup("UniformCandidateSampler")
    with pytest.raises(InvalidArgumentError):
        entry.function(
            torch.zeros(1, 1, dtype=torch.int64),
            num_true=1,
            num_sampled=5,
            unique=True,
            range_max=4,
            node=SimpleNamespace(name="s", attrs={}),
            session=SessionState(),
        )


def test_accidental_hits():
    rows, ids, weights = candidate_sampling.compute_accidental_hits(
        torch.tensor([[0, 3], [9, 1]]), torch.tensor([3, 7, 9, 0]), num_true=2
    )
    assert rows.tolist() == [0, 0, 1] and ids.tolist() == [3, 0, 2]
    assert weights.max() < -3e38


@pytest.mark.parametrize("sampler", ["log_uniform_candidate_sampler", "learned_unigram_candidate_sampler"])
def test_candidates_of_many_runs_do_not_depend_on_how_many_were_made_ahead(sampler, monkeypatch):
    drawn = []
    for ahead in (philox._RUNS_AHEAD, 1):
        monkeypatch.setattr(philox, "_RUNS_AHEAD", ahead)
        with tf.Graph().as_default(), tf.Session() as sess:
            sampled = getattr(tf.nn, sampler)(tf.constant([[1], [2]], tf.int64), 1, 40, True, 100, seed=5)[0]
            drawn.append([sess.run(sampled).tolist() for _ in range(20)])
    assert drawn[0] == drawn[1]
    assert len({tuple(run) for run in drawn[0]}) == 20
