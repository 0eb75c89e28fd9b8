"""Recurrent cells and layers. Their states are variables of the model, which stay from one run to the next: a kernel
writes them in place.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

import torch

from everflow.kernels.lite.arithmetic import activate
from everflow.kernels.lite.registry import Call, lite

_Inputs: TypeAlias = list[Any]  # tensors by place; None for an optional one that isn't there


def _clipped(x: torch.Tensor, limit: float) -> torch.Tensor:
    return x.clamp(-limit, limit) if limit > 0 else x


def _layer_norm(x: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) / (variance + 1e-8).sqrt() * coefficients


def _gate(
    x: torch.Tensor,
    hidden: torch.Tensor,
    weights: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    cell: torch.Tensor,
    peephole: torch.Tensor | None,
    norm: torch.Tensor | None,
) -> torch.Tensor:
    total = x @ weights.T + hidden @ recurrent.T
    if peephole is not None:
        total = total + cell * peephole
    if norm is not None:
        total = _layer_norm(total, norm)
    return total + bias


def _lstm_step(
    o: SimpleNamespace, x: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, p: _Inputs
) -> tuple[torch.Tensor, torch.Tensor]:
    """One step: (output, cell). `p` holds the inputs 1 to 17 of the op by place, and 20 to 23 where normalized."""
    forget = torch.sigmoid(_gate(x, hidden, p[2], p[6], p[13], cell, p[10], p[21]))
    update = activate(_gate(x, hidden, p[3], p[7], p[14], cell, None, p[22]), o.fused_activation_function)
    # Without an input gate, what is not forgotten is taken in.
    take = 1 - forget if p[1] is None else torch.sigmoid(_gate(x, hidden, p[1], p[5], p[12], cell, p[9], p[20]))
    cell = _clipped(forget * cell + take * update, o.cell_clip)
    out = torch.sigmoid(_gate(x, hidden, p[4], p[8], p[15], cell, p[11], p[23]))
    hidden = out * activate(cell, o.fused_activation_function)
    if p[16] is not None:
        hidden = hidden @ p[16].T
        hidden = _clipped(hidden if p[17] is None else hidden + p[17], o.proj_clip)
    return hidden, cell


@lite("LSTM")
def lstm(call: Call, *inputs: Any) -> Any:
    if call.options.kernel_type == 1:
        return _basic_lstm(*inputs)
    p = [*inputs, *[None] * (24 - len(inputs))]
    hidden, cell = _lstm_step(call.options, p[0], p[18], p[19], p)
    p[18].copy_(hidden)
    p[19].copy_(cell)
    return hidden


def _basic_lstm(
    x: torch.Tensor, hidden: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor, cell: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """A cell with all gates in one matrix, in the order input, new, forget, output; its states come in and go out."""
    together = torch.cat([x, hidden], -1)
    gates = together @ weights.T + bias
    take, new, forget, out = gates.chunk(4, -1)
    cell = torch.sigmoid(take) * torch.tanh(new) + torch.sigmoid(forget) * cell
    return torch.sigmoid(out) * torch.tanh(cell), cell, together, gates


def _over_time(x: torch.Tensor, time_major: bool, step: Callable[..., torch.Tensor]) -> torch.Tensor:
    """The outputs of `step` over time, stacked like the input."""
    axis = 0 if time_major else 1
    return torch.stack([step(part) for part in x.unbind(axis)], axis)


@lite("UNIDIRECTIONAL_SEQUENCE_LSTM")
def sequence_lstm(call: Call, *inputs: Any) -> torch.Tensor:
    p = [*inputs, *[None] * (24 - len(inputs))]

    def step(x: torch.Tensor) -> torch.Tensor:
        hidden, cell = _lstm_step(call.options, x, p[18], p[19], p)
        p[18].copy_(hidden)
        p[19].copy_(cell)
        return hidden

    return _over_time(p[0], call.options.time_major, step)


def _rnn_step(
    o: SimpleNamespace,
    x: torch.Tensor,
    weights: torch.Tensor,
    recurrent: torch.Tensor,
    bias: torch.Tensor,
    state: torch.Tensor,
) -> torch.Tensor:
    state.copy_(activate(x @ weights.T + state @ recurrent.T + bias, o.fused_activation_function))
    return state.clone()


@lite("RNN")
def rnn(
    call: Call, x: torch.Tensor, weights: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor, state: torch.Tensor
) -> torch.Tensor:
    return _rnn_step(call.options, x, weights, recurrent, bias, state)


@lite("UNIDIRECTIONAL_SEQUENCE_RNN")
def sequence_rnn(
    call: Call, x: torch.Tensor, weights: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor, state: torch.Tensor
) -> torch.Tensor:
    return _over_time(
        x, call.options.time_major, lambda part: _rnn_step(call.options, part, weights, recurrent, bias, state)
    )


@lite("SVDF")
def svdf(
    call: Call,
    x: torch.Tensor,
    features: torch.Tensor,
    times: torch.Tensor,
    bias: torch.Tensor | None,
    state: torch.Tensor,
) -> torch.Tensor:
    """A layer whose weights are products of one matrix over features and one over time; the state keeps the last steps."""
    batch, filters = x.shape[0], features.shape[0]
    memory = state.reshape(batch, filters, -1)
    memory[:, :, :-1] = memory[:, :, 1:].clone()
    memory[:, :, -1] = x @ features.T
    summed = (memory * times).sum(-1).reshape(batch, -1, call.options.rank).sum(-1)
    return activate(summed if bias is None else summed + bias, call.options.fused_activation_function)
