"""Connectionist temporal classification: the loss with its gradient, and the two decoders. The last class is the blank."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError
from everflow.kernels.registry import fresh


def _check_lengths(inputs: torch.Tensor, lengths: torch.Tensor, wrong: type = FailedPreconditionError) -> None:
    if inputs.dim() != 3:
        raise InvalidArgumentError(None, None, "inputs is not a 3-Tensor")
    time, batch, _ = inputs.shape
    if lengths.dim() != 1 or lengths.shape[0] != batch:
        raise wrong(
            None,
            None,
            f"len(sequence_length) != batch_size.  len(sequence_length):  {lengths.numel()} batch_size: {batch}",
        )
    for row, length in enumerate(lengths.tolist()):
        if length > time:
            raise wrong(None, None, f"sequence_length({row}) <= {time}")


def _rows_of_labels(indices: torch.Tensor, values: torch.Tensor, batch: int) -> list[list[int]]:
    """The labels of each sequence, from their sparse form, which must be in order."""
    rows: list[list[int]] = [[] for _ in range(batch)]
    last = (-1, -1)
    for place, ((row, column), value) in enumerate(zip(indices.tolist(), values.tolist(), strict=True)):
        if not 0 <= row < batch:
            raise InvalidArgumentError(
                None, None, f"label SparseTensor is not valid: indices[{place}] = [{row},{column}] is out of bounds"
            )
        if (row, column) <= last:
            raise InvalidArgumentError(
                None, None, f"label SparseTensor is not valid: indices[{place}] = [{row},{column}] is out of order"
            )
        last = (row, column)
        if value < 0:
            raise InvalidArgumentError(
                None, None, f"All labels must be nonnegative integers, batch: {row} labels: {value}"
            )
        rows[row].append(value)
    return rows


def _before_padding(labels: list[int], blank: int, row: int) -> list[int]:
    """Labels as far as the first that is no class: dense labels made sparse may be padded with the blank or with more."""
    end = next((place for place, label in enumerate(labels) if label >= blank), len(labels))
    if min(labels[end:], default=blank) < blank:
        raise InvalidArgumentError(
            None,
            None,
            f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {row} num_classes: {blank + 1} labels: {labels}",
        )
    return labels[:end]


def _collapse(labels: list[int]) -> list[int]:
    return [label for place, label in enumerate(labels) if place == 0 or label != labels[place - 1]]


def _paths(logs: np.ndarray, skip: np.ndarray, stay: np.ndarray) -> np.ndarray:
    """log p of reaching each place of the spelled-out labels at each time, over all paths from the start.

    logs: [time, batch, places], the log probability of each place's label.
    """
    time, batch, places = logs.shape
    reached = np.full((time, batch, places), -np.inf)
    if time == 0:
        return reached
    reached[0, :, :2] = logs[0, :, :2]
    for t in range(1, time):
        before = reached[t - 1]
        total = np.where(stay, before, -np.inf)
        total[:, 1:] = np.logaddexp(total[:, 1:], before[:, :-1])
        total[:, 2:] = np.logaddexp(total[:, 2:], np.where(skip[:, 2:], before[:, :-2], -np.inf))
        reached[t] = total + logs[t]
    return reached


def _remaining(
    logs: np.ndarray, ends: np.ndarray, lengths: np.ndarray, skip: np.ndarray, stay: np.ndarray
) -> np.ndarray:
    """log p of finishing from each place, the labels of later times only."""
    time, batch, places = logs.shape
    remaining = np.full((time, batch, places), -np.inf)
    start = np.full((batch, places), -np.inf)
    rows = np.arange(batch)
    start[rows, ends - 1] = 0.0
    start[rows, np.maximum(ends - 2, 0)] = 0.0
    after = np.full((batch, places), -np.inf)
    for t in range(time - 1, -1, -1):
        total = np.where(stay, after, -np.inf)
        total[:, :-1] = np.logaddexp(total[:, :-1], after[:, 1:])
        total[:, :-2] = np.logaddexp(total[:, :-2], np.where(skip[:, 2:], after[:, 2:], -np.inf))
        # TensorFlow starts from the last two places; without labels there is one, and what it starts from besides is
        # that of the frame before.
        total[:, 0] = np.where((ends == 1) & (lengths == t + 2), np.logaddexp(total[:, 0], 0.0), total[:, 0])
        remaining[t] = np.where((lengths == t + 1)[:, None], start, total)
        after = remaining[t] + logs[t]
    return remaining


def _wanted(labels: list[int], blank: int, row: int, collapse: bool) -> list[int]:
    """The labels of a row that the loss is about."""
    if not labels:
        raise InvalidArgumentError(None, None, f"Labels length is zero in batch {row}")
    labels = _before_padding(labels, blank, row)
    return _collapse(labels) if collapse else labels


def _spelled(rows: list[list[int]], blank: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels spelled out with blanks around each, places 1, 3, 5, ... being labels; and how many places each row has."""
    ends = np.array([2 * len(labels) + 1 for labels in rows])
    spelled = np.full((len(rows), ends.max()), blank)
    for row, labels in enumerate(rows):
        spelled[row, 1 : 2 * len(labels) : 2] = labels
    return spelled, ends


@fresh("CTCLoss")
def ctc_loss(
    inputs: torch.Tensor,
    indices: torch.Tensor,
    values: torch.Tensor,
    lengths: torch.Tensor,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_lengths(inputs, lengths, InvalidArgumentError)
    time, batch, classes = inputs.shape
    if classes == 0:
        raise InvalidArgumentError(None, None, "CTC needs at least one class")
    steps = lengths.numpy().astype(np.int64)
    blank = classes - 1
    rows = [
        _wanted(labels, blank, row, preprocess_collapse_repeated)
        for row, labels in enumerate(_rows_of_labels(indices, values, batch))
    ]
    used = np.array([len(labels) <= available for labels, available in zip(rows, steps)], bool)
    if not used.all() and not ignore_longer_outputs_than_inputs:
        row = int(np.argmin(used))
        raise InvalidArgumentError(
            None,
            None,
            f"Not enough time for target transition sequence (required: {len(rows[row])}, available: {steps[row]}){row}",
        )
    if batch == 0:
        return inputs.new_zeros((0,)), torch.zeros_like(inputs)

    spelled, ends = _spelled(rows, blank)
    is_label = np.arange(spelled.shape[1])[None] % 2 == 1
    skip = np.zeros(spelled.shape, bool)
    skip[:, 2:] = is_label[:, 2:] & (True if not ctc_merge_repeated else spelled[:, 2:] != spelled[:, :-2])
    stay = np.broadcast_to(~is_label, spelled.shape) if not ctc_merge_repeated else np.ones(spelled.shape, bool)

    log_y = torch.log_softmax(inputs.double(), 2).numpy()
    logs = np.take_along_axis(log_y, np.broadcast_to(spelled, (time, *spelled.shape)), 2)
    inside = np.arange(spelled.shape[1])[None] < ends[:, None]
    logs = np.where(inside[None], logs, -np.inf)
    both = _paths(logs, skip, stay) + _remaining(logs, ends, steps, skip, stay)
    log_p = np.logaddexp.reduce(both[0], axis=1) if time else np.zeros(batch)

    found = np.isfinite(log_p)
    share = np.exp(both - np.where(found, log_p, 0.0)[None, :, None])
    posterior = np.zeros((time, batch, classes))
    where: Any = slice(None), np.arange(batch)[:, None], spelled
    np.add.at(posterior, where, share)
    gradient = np.exp(log_y) - posterior
    gradient[np.arange(time)[:, None] >= steps[None]] = 0.0
    gradient[:, ~used] = 0.0
    loss = np.where(used, -log_p, 0.0)
    return torch.from_numpy(loss).to(inputs.dtype), torch.from_numpy(gradient).to(inputs.dtype)


def _sparse(sequences: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sequences, one a row, as indices, values and shape."""
    indices = [[row, column] for row, sequence in enumerate(sequences) for column in range(len(sequence))]
    values = [value for sequence in sequences for value in sequence]
    width = max(map(len, sequences), default=0)
    return (
        torch.tensor(indices, dtype=torch.int64).reshape(-1, 2),
        torch.tensor(values, dtype=torch.int64),
        torch.tensor([len(sequences), width], dtype=torch.int64),
    )


@fresh("CTCGreedyDecoder")
def ctc_greedy_decoder(
    inputs: torch.Tensor, lengths: torch.Tensor, *, merge_repeated: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_lengths(inputs, lengths)
    blank = inputs.shape[2] - 1
    best, where = inputs.max(2)
    sequences, scores = [], []
    for row, length in enumerate(lengths.tolist()):
        path = where[:length, row].tolist()
        if merge_repeated:
            path = _collapse(path)
        sequences.append([label for label in path if label != blank])
        scores.append(-best[:length, row].sum())
    score = torch.stack(scores).unsqueeze(1) if scores else inputs.new_zeros((0, 1))
    return (*_sparse(sequences), score)


class _Prefixes:
    """A tree of label sequences: each has a number, its last label and the number of the sequence without that label."""

    def __init__(self) -> None:
        self._parents, self._labels, self._numbers = [-1], [-1], {}

    def extended(self, number: int, label: int) -> int:
        key = (number, label)
        if key not in self._numbers:
            self._numbers[key] = len(self._labels)
            self._parents.append(number)
            self._labels.append(label)
        return self._numbers[key]

    def parent(self, number: int) -> int:
        return self._parents[number]

    def label(self, number: int) -> int:
        return self._labels[number]

    def spelled(self, number: int) -> list[int]:
        labels = []
        while number:
            labels.append(self._labels[number])
            number = self._parents[number]
        return labels[::-1]


def _beam_search(logs: np.ndarray, width: int) -> list[tuple[list[int], float]]:
    """The `width` most probable prefixes and their log probabilities for log probabilities [time, classes], best first."""
    blank = logs.shape[1] - 1
    tree = _Prefixes()
    beams = [0]
    # log p of the paths that end in a blank, and of those that end in the prefix's last label
    in_blank, in_label = np.zeros(1), np.full(1, -np.inf)
    for row in logs:
        total = np.logaddexp(in_blank, in_label)
        last = np.array([tree.label(b) for b in beams])
        place = {b: i for i, b in enumerate(beams)}
        parents = np.array([place.get(tree.parent(b), -1) for b in beams])
        # A repeated label needs a blank between.
        grown = np.where(last[parents] == last, in_blank[parents], total[parents])
        stayed = np.where(parents >= 0, np.logaddexp(in_label, grown), in_label) + np.where(last >= 0, row[last], 0.0)
        paused = total + row[blank]
        children = total[:, None] + row[None, :blank]
        named = np.flatnonzero(last >= 0)
        children[named, last[named]] = in_blank[named] + row[last[named]]
        inside = np.flatnonzero(parents >= 0)
        children[parents[inside], last[inside]] = -np.inf  # these are beams already
        scores = np.concatenate([np.logaddexp(paused, stayed), children.ravel()])
        best = np.argsort(-scores, kind="stable")[:width]
        best = best[scores[best] > -np.inf]
        old, new = best < len(beams), best - len(beams)
        in_blank = np.where(old, paused[np.where(old, best, 0)], -np.inf)
        in_label = np.where(old, stayed[np.where(old, best, 0)], scores[best])
        beams = [
            beams[b] if is_old else tree.extended(beams[n // blank], n % blank)
            for b, n, is_old in zip(best.tolist(), new.tolist(), old.tolist(), strict=True)
        ]
    totals = np.logaddexp(in_blank, in_label)
    return [(tree.spelled(beams[i]), float(totals[i])) for i in np.argsort(-totals, kind="stable")]


@fresh("CTCBeamSearchDecoder")
def ctc_beam_search_decoder(
    inputs: torch.Tensor, lengths: torch.Tensor, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
    _check_lengths(inputs, lengths)
    if top_paths > beam_width:
        raise InvalidArgumentError(None, None, "Can't have more paths than beams: top_paths must be <= beam_width")
    logs = torch.log_softmax(inputs.double(), 2).numpy()
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = np.zeros((inputs.shape[1], top_paths))
    for row, length in enumerate(lengths.tolist()):
        found = _beam_search(logs[:length, row], beam_width)
        if len(found) < top_paths:
            raise InvalidArgumentError(None, None, "Less leaves in the beam search than requested.")
        for rank, (prefix, score) in enumerate(found[:top_paths]):
            paths[rank].append(_collapse(prefix) if merge_repeated else prefix)
            scores[row, rank] = score
    indices, values, shapes = zip(*(_sparse(sequences) for sequences in paths), strict=True)
    return list(indices), list(values), list(shapes), torch.from_numpy(scores).to(inputs.dtype)
