"""Programs with a loop over time. Cells are written out, as Everflow and TensorFlow have them too; torch's own layers
for whole sequences are other programs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.by_hand.registry import Step, by_hand, integers, training, uniform


def over_time(cell: nn.Module, x: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The outputs of a cell at each step of x [batch, time, depth], and its last state; texts that ended stay."""
    state: Tensor | tuple[Tensor, ...] | None = None
    outputs = []
    for t, now in enumerate(x.unbind(1)):
        following = cell(now, state)
        h = following[0] if isinstance(following, tuple) else following
        if lengths is not None:
            goes_on = (t < lengths)[:, None]
            following = torch.where(goes_on, h, torch.zeros_like(h) if state is None else state)
            h = torch.where(goes_on, h, torch.zeros_like(h))
        state = following
        outputs.append(h)
    return torch.stack(outputs, 1), state[0] if isinstance(state, tuple) else state


@by_hand
def unrolled_lstm() -> Step:
    x, y = integers(10000, 20, 20), integers(10000, 20, 20)
    embedding, first, second, last = (
        nn.Embedding(10000, 200),
        *(nn.LSTMCell(200, 200) for _ in range(2)),
        nn.Linear(200, 10000),
    )
    parameters = [p for m in (embedding, first, second, last) for p in m.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.5)

    def step() -> float:
        optimizer.zero_grad()
        outputs, _ = over_time(second, over_time(first, embedding(x))[0])
        loss = F.cross_entropy(last(outputs).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        return loss.item()

    return step


@by_hand
def looped_lstm() -> Step:
    x, y, cell, last = uniform(128, 28, 28), integers(10, 128), nn.LSTMCell(28, 128), nn.Linear(128, 10)
    return training([cell, last], lambda: F.cross_entropy(last(over_time(cell, x)[1]), y))


@by_hand
def character_rnn() -> Step:
    x, y = F.one_hot(integers(80, 32, 50), 80).float(), integers(80, 32, 50)
    first, second, last = nn.LSTMCell(80, 128), nn.LSTMCell(128, 128), nn.Linear(128, 80)

    def loss() -> Tensor:
        h = F.dropout(over_time(first, x)[0], 0.2)
        h = F.dropout(over_time(second, h)[0], 0.2)
        return F.cross_entropy(last(h).flatten(0, 1), y.flatten())

    return training([first, second, last], loss)


@by_hand
def attentive_gru() -> Step:
    words, lengths, y = integers(5000, 32, 40), integers(35, 32) + 5, integers(5, 32)
    embedding, forth, back = nn.Embedding(5000, 64), nn.GRUCell(64, 64), nn.GRUCell(64, 64)
    scores, last = nn.Sequential(nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 1, bias=False)), nn.Linear(128, 5)
    steps = torch.arange(40)
    is_text = steps < lengths[:, None]
    turned = torch.where(is_text, lengths[:, None] - 1 - steps, steps)[:, :, None]

    def reversed_texts(x: Tensor) -> Tensor:
        return x.gather(1, turned.expand_as(x))

    def loss() -> Tensor:
        x = embedding(words)
        outputs = torch.cat(
            [over_time(forth, x, lengths)[0], reversed_texts(over_time(back, reversed_texts(x), lengths)[0])], 2
        )
        weights = scores(outputs)[:, :, 0].masked_fill(~is_text, -1e9).softmax(1)
        return F.cross_entropy(last((outputs * weights[:, :, None]).sum(1)), y)

    return training([embedding, forth, back, scores, last], loss)


@by_hand
def greedy_decoder() -> Step:
    began, embedding, cell, output = (
        torch.randn(16, 64),
        nn.Embedding(1000, 64),
        nn.GRUCell(64, 64),
        nn.Linear(64, 1000),
    )

    @torch.no_grad()
    def step() -> Tensor:
        word, state, ended = torch.ones(16, dtype=torch.long), began, torch.zeros(16, dtype=torch.bool)
        sentences = []
        while len(sentences) < 30 and not ended.all():
            following = cell(embedding(word), state)
            word = torch.where(ended, 2, output(following).argmax(1))
            state = torch.where(ended[:, None], state, following)
            ended = ended | (word == 2)
            sentences.append(word)
        return torch.stack(sentences, 1)

    return step


@by_hand
def hamiltonian_monte_carlo() -> Step:
    x, y = torch.randn(100, 10), integers(2, 100).float()
    place, size = torch.randn(32, 10), 0.1

    def energy(weights: Tensor) -> Tensor:
        logits = weights @ x.t()
        misfit = F.binary_cross_entropy_with_logits(logits, y.expand_as(logits), reduction="none").sum(1)
        return misfit + 0.5 * weights.square().sum(1)

    def slope(weights: Tensor) -> Tensor:
        weights = weights.detach().requires_grad_()
        return torch.autograd.grad(energy(weights).sum(), weights)[0]

    def step() -> float:
        nonlocal place
        momentum = torch.randn(32, 10)
        ended, last = place, momentum - 0.5 * size * slope(place)
        for _ in range(20):
            ended = ended + size * last
            last = last - size * slope(ended)
        last = last + 0.5 * size * slope(ended)
        with torch.no_grad():
            change = energy(ended) - energy(place) + 0.5 * (last.square() - momentum.square()).sum(1)
            accepted = torch.rand(32).log() < -change
            place = torch.where(accepted[:, None], ended, place)
        return accepted.float().mean().item()

    return step
