"""CTC against sums over all alignments, and candidate samplers against numbers TensorFlow drew."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError
from everflow.kernels.nn import candidate_sampling, ctc
from everflow.kernels.nn import fractional_pooling as nn_fractional_pooling
from everflow.kernels.random import philox
from everflow.kernels.registry import lookup
from everflow.runtime.state import SessionState


def squeezed(path, blank, merge=True):
    kept = [c for i, c in enumerate(path) if not merge or i == 0 or c != path[i - 1]]
    return tuple(c for c in kept if c != blank)


def probability(logits, labels, merge=True):
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    blank = logits.shape[1] - 1
    paths = itertools.product(range(logits.shape[1]), repeat=len(logits))
    return sum(
        np.prod([p[t, c] for t, c in enumerate(path)])
        for path in paths
        if squeezed(path, blank, merge) == tuple(labels)
    )


def loss(logits, rows, lengths, merge=True):
    indices = torch.tensor([[r, c] for r, row in enumerate(rows) for c in range(len(row))])
    values = torch.tensor([v for row in rows for v in row], dtype=torch.int32)
    return ctc.ctc_loss(
        torch.from_numpy(logits),
        indices,
        values,
        torch.tensor(lengths, dtype=torch.int32),
        preprocess_collapse_repeated=False,
        ctc_merge_repeated=merge,
        ignore_longer_outputs_than_inputs=False,
    )


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("labels", [[0], [0, 1], [0, 0], [1, 0, 1]])
def test_ctc_loss_sums_over_all_alignments(labels, merge):
    logits = np.random.RandomState(3).normal(size=(5, 1, 3))
    found, _ = loss(logits, [labels], [5], merge)
    assert found.item() == pytest.approx(-np.log(probability(logits[:, 0], labels, merge)))


def test_beam_search_with_room_for_all_is_exact():
    logits = np.random.RandomState(4).normal(size=(4, 1, 3))
    _, values, _, scores = ctc.ctc_beam_search_decoder(
        torch.from_numpy(logits),
        torch.tensor([4], dtype=torch.int32),
        beam_width=100,
        top_paths=4,
        merge_repeated=False,
    )
    for labels, score in zip(values, scores[0].tolist(), strict=True):
        assert score == pytest.approx(np.log(probability(logits[:, 0], labels.tolist())))
    assert scores[0].tolist() == sorted(scores[0].tolist(), reverse=True)


def test_greedy_decoder():
    best = np.full((5, 1, 3), -1.0)
    for t, c in enumerate([0, 0, 2, 0, 1]):
        best[t, 0, c] = 1.0
    _, values, shape, score = ctc.ctc_greedy_decoder(
        torch.from_numpy(best), torch.tensor([5], dtype=torch.int32), merge_repeated=True
    )
    assert values.tolist() == [0, 0, 1] and shape.tolist() == [1, 3] and score.item() == -5.0


def test_ctc_errors():
    logits = np.zeros((4, 1, 3))
    with pytest.raises(InvalidArgumentError, match="Not enough time"):
        loss(logits, [[0, 1, 0]], [2])
    with pytest.raises(InvalidArgumentError):
        loss(logits, [[0]], [5])
    with pytest.raises(InvalidArgumentError, match="nonnegative"):
        loss(logits, [[-1]], [4])
    with pytest.raises(FailedPreconditionError):
        ctc.ctc_greedy_decoder(torch.zeros(4, 1, 3), torch.tensor([5]), merge_repeated=True)


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


@pytest.mark.parametrize(
    "pseudo_random, rows", [(False, [0, 1, 3, 5, 7, 8, 9, 11, 12]), (True, [0, 1, 3, 4, 6, 7, 9, 10, 12])]
)
def test_fractional_pool_windows(pseudo_random, rows):
    x = torch.arange(12.0 * 13).view(1, 12, 13, 1)
    attrs = {
        "pooling_ratio": [1.0, 1.44, 1.73, 1.0],
        "pseudo_random": pseudo_random,
        "deterministic": True,
        "seed": 7,
        "seed2": 11,
    }
    pooled, row_bounds, column_bounds = nn_fractional_pooling.fractional_max_pool(x, overlapping=False, **attrs)
    assert row_bounds.tolist() == rows
    assert pooled[0, :, 0, 0].tolist() == [(end - 1) * 13 + column_bounds[1].item() - 1 for end in rows[1:]]


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
