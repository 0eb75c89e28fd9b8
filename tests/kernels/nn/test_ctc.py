"""CTC against sums over all alignments."""

import itertools

import numpy as np
import pytest
import torch

from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError
from everflow.kernels.nn import ctc


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
