"""Whole recurrent cells as one kernel, their gradients, and GatherTree, which follows beams back from the end."""

from __future__ import annotations

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh, library


def _lstm_step(
    x: torch.Tensor,
    cs_prev: torch.Tensor,
    h_prev: torch.Tensor,
    w: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    b: torch.Tensor,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
    order: tuple[int, int, int, int],
) -> tuple[torch.Tensor, ...]:
    """(i, cs, f, o, ci, co, h) of one step; `order` says where the gates i, ci, f, o stand in the weights."""
    gates = torch.addmm(b, torch.cat([x, h_prev], 1), w).chunk(4, 1)
    i, ci, f, o = (gates[place] for place in order)
    if use_peephole:
        i = i + cs_prev * wci
        f = f + cs_prev * wcf
    i, ci, f = torch.sigmoid(i), torch.tanh(ci), torch.sigmoid(f + forget_bias)
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = cs.clamp(-cell_clip, cell_clip)
    if use_peephole:
        o = o + cs * wco
    o = torch.sigmoid(o)
    co = torch.tanh(cs)
    return i, cs, f, o, ci, co, co * o


# Where i, ci, f and o stand in the weights.
_ICFO, _IFCO = (0, 1, 2, 3), (0, 2, 1, 3)


@library("LSTMBlockCell")
def lstm_block_cell(
    x: torch.Tensor,
    cs_prev: torch.Tensor,
    h_prev: torch.Tensor,
    w: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    b: torch.Tensor,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[torch.Tensor, ...]:
    return _lstm_step(x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole, _ICFO)


def _lstm_step_grad(
    cs_prev: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    i: torch.Tensor,
    cs: torch.Tensor,
    f: torch.Tensor,
    o: torch.Tensor,
    ci: torch.Tensor,
    co: torch.Tensor,
    cs_grad: torch.Tensor,
    h_grad: torch.Tensor,
    use_peephole: bool,
) -> tuple[
    torch.Tensor,
    tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    tuple[torch.Tensor, torch.Tensor, torch.Tensor],
]:
    """(gradient of cs_prev, those of the gates i, ci, f, o, those of the peepholes)."""
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    if use_peephole:
        cs_prev_grad = cs_prev_grad + di * wci + df * wcf
        peepholes = (di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0)
    else:
        peepholes = torch.zeros_like(wci), torch.zeros_like(wcf), torch.zeros_like(wco)
    return cs_prev_grad, (di, dci, df, do), peepholes


@library("LSTMBlockCellGrad")
def lstm_block_cell_grad(
    x: torch.Tensor,
    cs_prev: torch.Tensor,
    h_prev: torch.Tensor,
    w: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    b: torch.Tensor,
    i: torch.Tensor,
    cs: torch.Tensor,
    f: torch.Tensor,
    o: torch.Tensor,
    ci: torch.Tensor,
    co: torch.Tensor,
    cs_grad: torch.Tensor,
    h_grad: torch.Tensor,
    *,
    use_peephole: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    cs_prev_grad, gates, peepholes = _lstm_step_grad(
        cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole
    )
    return (cs_prev_grad, torch.cat(gates, 1), *peepholes)


def _block_lstm(
    seq_len_max: torch.Tensor,
    x: torch.Tensor,
    cs_prev: torch.Tensor,
    h_prev: torch.Tensor,
    w: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    b: torch.Tensor,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
    order: tuple[int, int, int, int],
) -> tuple[torch.Tensor, ...]:
    if cell_clip == 0 and forget_bias == 0:
        cell_clip = -1.0
    steps = int(seq_len_max)
    results = []
    for t in range(steps):
        step = _lstm_step(x[t], cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole, order)
        cs_prev, h_prev = step[1], step[6]
        results.append(step)
    nothing = x.new_zeros(x.shape[0] - steps, x.shape[1], cs_prev.shape[1])
    return tuple(
        torch.cat([torch.stack(parts), nothing]) if results else nothing.clone()
        for parts in (zip(*results) if results else [()] * 7)
    )


@library("BlockLSTM")
def block_lstm(
    seq_len_max: torch.Tensor,
    x: torch.Tensor,
    cs_prev: torch.Tensor,
    h_prev: torch.Tensor,
    w: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    b: torch.Tensor,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[torch.Tensor, ...]:
    return _block_lstm(
        seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole, _ICFO
    )


@library("BlockLSTMV2")
def block_lstm_v2(
    seq_len_max: torch.Tensor,
    x: torch.Tensor,
    cs_prev: torch.Tensor,
    h_prev: torch.Tensor,
    w: torch.Tensor,
    wci: torch.Tensor,
    wcf: torch.Tensor,
    wco: torch.Tensor,
    b: torch.Tensor,
    *,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[torch.Tensor, ...]:
    return _block_lstm(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, 0.0, cell_clip, use_peephole, _IFCO)


@library("BlockLSTMGrad")
def block_lstm_grad(*tensors: torch.Tensor, use_peephole: bool) -> tuple[torch.Tensor, ...]:
    return _block_lstm_grad(tensors, use_peephole, _ICFO)


@library("BlockLSTMGradV2")
def block_lstm_grad_v2(*tensors: torch.Tensor, use_peephole: bool) -> tuple[torch.Tensor, ...]:
    return _block_lstm_grad(tensors, use_peephole, _IFCO)


def _block_lstm_grad(
    tensors: tuple[torch.Tensor, ...], use_peephole: bool, order: tuple[int, ...]
) -> tuple[torch.Tensor, ...]:
    seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *saved, cs_grad, h_grad = tensors
    i, cs, f, o, ci, co, h = saved
    steps, inputs = int(seq_len_max), x.shape[2]
    x_grad = torch.zeros_like(x)
    w_grad, b_grad = torch.zeros_like(w), torch.zeros_like(b)
    peephole_grads = [torch.zeros_like(p) for p in (wci, wcf, wco)]
    cs_carried, h_carried = torch.zeros_like(cs_prev), torch.zeros_like(h_prev)
    for t in reversed(range(steps)):
        cs_before, h_before = (cs[t - 1], h[t - 1]) if t else (cs_prev, h_prev)
        cs_carried, gates, peepholes = _lstm_step_grad(
            cs_before,
            wci,
            wcf,
            wco,
            i[t],
            cs[t],
            f[t],
            o[t],
            ci[t],
            co[t],
            cs_grad[t] + cs_carried,
            h_grad[t] + h_carried,
            use_peephole,
        )
        joined = torch.cat([gates[k] for k in order], 1)
        joined_grad = joined @ w.mT
        x_grad[t], h_carried = joined_grad[:, :inputs], joined_grad[:, inputs:]
        w_grad.addmm_(torch.cat([x[t], h_before], 1).mT, joined)
        b_grad += joined.sum(0)
        peephole_grads = [total + part for total, part in zip(peephole_grads, peepholes)]
    return (x_grad, cs_carried, h_carried, w_grad, *peephole_grads, b_grad)


@library("GRUBlockCell")
def gru_block_cell(
    x: torch.Tensor, h_prev: torch.Tensor, w_ru: torch.Tensor, w_c: torch.Tensor, b_ru: torch.Tensor, b_c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    r, u = torch.sigmoid(torch.addmm(b_ru, torch.cat([x, h_prev], 1), w_ru)).chunk(2, 1)
    c = torch.tanh(torch.addmm(b_c, torch.cat([x, h_prev * r], 1), w_c))
    return r, u, c, u * h_prev + (1 - u) * c


@library("GRUBlockCellGrad")
def gru_block_cell_grad(
    x: torch.Tensor,
    h_prev: torch.Tensor,
    w_ru: torch.Tensor,
    w_c: torch.Tensor,
    b_ru: torch.Tensor,
    b_c: torch.Tensor,
    r: torch.Tensor,
    u: torch.Tensor,
    c: torch.Tensor,
    d_h: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    inputs = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    d_joined = d_c_bar @ w_c.mT
    d_hr = d_joined[:, inputs:]
    d_r_bar = d_hr * h_prev * r * (1 - r)
    d_gates = torch.cat([d_r_bar, d_u_bar], 1)
    d_joined_gates = d_gates @ w_ru.mT
    d_x = d_joined[:, :inputs] + d_joined_gates[:, :inputs]
    d_h_prev = d_joined_gates[:, inputs:] + d_hr * r + d_h * u
    return d_x, d_h_prev, d_c_bar, d_gates


@fresh("GatherTree")
def gather_tree(
    step_ids: torch.Tensor, parent_ids: torch.Tensor, max_sequence_lengths: torch.Tensor, end_token: torch.Tensor
) -> torch.Tensor:
    steps, batch, beams = step_ids.shape
    if max_sequence_lengths.shape[0] != batch:
        raise InvalidArgumentError(
            None,
            None,
            f"max_sequence_lengths must have batch size {batch} but saw shape: {list(max_sequence_lengths.shape)}",
        )
    result = torch.full_like(step_ids, int(end_token))
    rows = torch.arange(batch).unsqueeze(1)
    lengths = max_sequence_lengths.clamp(max=steps).unsqueeze(1)
    parents = torch.arange(beams).expand(batch, beams)
    for t in reversed(range(steps)):
        alive = t < lengths
        ids = step_ids[t][rows, parents.long()]
        result[t] = torch.where(alive, ids, result[t])
        before = parent_ids[t][rows, parents.long()].to(parents.dtype)
        parents = torch.where(alive, before, parents)
        if t and bool(((parents < 0) | (parents >= beams)).any()):
            row, beam = ((parents < 0) | (parents >= beams)).nonzero()[0].tolist()
            raise InvalidArgumentError(
                None,
                None,
                f"Saw invalid parent id {int(parents[row, beam])} at (batch, time, beam) == ({row}, {t - 1}, {beam})",
            )
    # After a sequence's first end token all is end.
    ended = (result == end_token).cumsum(0) > 0
    return torch.where(ended, end_token.to(result.dtype), result)
