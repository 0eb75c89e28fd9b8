"""Whole recurrent cells as expressions, so that loops over them become machine code."""

from __future__ import annotations

from everflow.native.lowering import lowers
from everflow.native.values import Value, apply, const, join, product


def _sigmoid(x: Value) -> Value:
    return apply("sigmoid", x)


def _columns(x: Value, begin: int, count: int) -> Value:
    return x.slice([0, begin], [x.shape[0], count])


def _are_matrices(*values: Value) -> bool:
    return all(len(v.shape) == 2 and v.dtype.kind == "f" for v in values)


@lowers("LSTMBlockCell")
def _lower_lstm(
    x: Value,
    cs_prev: Value,
    h_prev: Value,
    w: Value,
    wci: Value,
    wcf: Value,
    wco: Value,
    b: Value,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Value, ...] | None:
    if not _are_matrices(x, cs_prev, h_prev, w):
        return None
    width = cs_prev.shape[1]
    gates = product(join([x, h_prev], 1), w) + b
    i, ci, f, o = (_columns(gates, number * width, width) for number in range(4))
    if use_peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    i, ci, f = _sigmoid(i), apply("tanh", ci), _sigmoid(f + forget_bias)
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = apply("minimum", apply("maximum", cs, -cell_clip), cell_clip)
    o = _sigmoid(o + cs * wco if use_peephole else o)
    co = apply("tanh", cs)
    return i, cs, f, o, ci, co, co * o


@lowers("LSTMBlockCellGrad")
def _lower_lstm_grad(
    _x: Value,
    cs_prev: Value,
    _h_prev: Value,
    _w: Value,
    wci: Value,
    wcf: Value,
    wco: Value,
    _b: Value,
    i: Value,
    cs: Value,
    f: Value,
    o: Value,
    ci: Value,
    co: Value,
    cs_grad: Value,
    h_grad: Value,
    *,
    use_peephole: bool,
) -> tuple[Value, ...] | None:
    if not _are_matrices(cs_prev, cs_grad, h_grad):
        return None
    do = o * (1.0 - o) * h_grad * co
    dcs = (1.0 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci, df, di = (1.0 - ci * ci) * dcs * i, f * (1.0 - f) * dcs * cs_prev, i * (1.0 - i) * dcs * ci
    back = dcs * f
    if not use_peephole:
        zeros = const(0, cs.dtype).expand(wci.shape)
        return back, join([di, dci, df, do], 1), zeros, zeros, zeros
    peepholes = [(di * cs_prev).reduce("sum", [0]), (df * cs_prev).reduce("sum", [0]), (do * cs).reduce("sum", [0])]
    return back + di * wci + df * wcf, join([di, dci, df, do], 1), *peepholes


@lowers("GRUBlockCell")
def _lower_gru(x: Value, h_prev: Value, w_ru: Value, w_c: Value, b_ru: Value, b_c: Value) -> tuple[Value, ...] | None:
    if not _are_matrices(x, h_prev, w_ru, w_c):
        return None
    width = h_prev.shape[1]
    gates = _sigmoid(product(join([x, h_prev], 1), w_ru) + b_ru)
    r, u = _columns(gates, 0, width), _columns(gates, width, width)
    c = apply("tanh", product(join([x, h_prev * r], 1), w_c) + b_c)
    return r, u, c, u * h_prev + (1.0 - u) * c


@lowers("GRUBlockCellGrad")
def _lower_gru_grad(
    x: Value,
    h_prev: Value,
    w_ru: Value,
    w_c: Value,
    _b_ru: Value,
    _b_c: Value,
    r: Value,
    u: Value,
    c: Value,
    d_h: Value,
) -> tuple[Value, ...] | None:
    if not _are_matrices(x, h_prev, w_ru, w_c, d_h):
        return None
    inputs, width = x.shape[1], h_prev.shape[1]
    d_c = d_h * (1.0 - u) * (1.0 - c * c)
    d_u = d_h * (h_prev - c) * u * (1.0 - u)
    joined = product(d_c, w_c.permute([1, 0]))
    d_hr = _columns(joined, inputs, width)
    gates = join([d_hr * h_prev * r * (1.0 - r), d_u], 1)
    joined_gates = product(gates, w_ru.permute([1, 0]))
    d_x = _columns(joined, 0, inputs) + _columns(joined_gates, 0, inputs)
    return d_x, _columns(joined_gates, inputs, width) + d_hr * r + d_h * u, d_c, gates
