"""Whole recurrent cells as one op (LSTMBlockCell, BlockLSTM, GRUBlockCell), and GatherTree: shapes and gradients."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math


@shape_rule("LSTMBlockCell")
def _lstm_cell_shapes(op):
    batch = op.inputs[0].shape.with_rank(2)[0]
    units = op.inputs[1].shape.with_rank(2)[1]
    return [TensorShape([batch, units])] * 7


@shape_rule("LSTMBlockCellGrad")
def _lstm_cell_grad_shapes(op):
    batch = op.inputs[0].shape.with_rank(2)[0]
    units = op.inputs[1].shape.with_rank(2)[1]
    gates = op.inputs[3].shape.with_rank(2)[1]
    return [TensorShape([batch, units]), TensorShape([batch, gates])] + [TensorShape([units])] * 3


@shape_rule("BlockLSTM", "BlockLSTMV2")
def _lstm_shapes(op):
    x, bias = op.inputs[1].shape.with_rank(3), op.inputs[8].shape.with_rank(1)
    units = None if bias.size(0) is None else bias.size(0) // 4
    return [TensorShape([x[0], x[1], units])] * 7


@shape_rule("BlockLSTMGrad", "BlockLSTMGradV2")
def _lstm_grad_shapes(op):
    return [t.shape for t in op.inputs[1:9]]


@shape_rule("GRUBlockCell")
def _gru_cell_shapes(op):
    batch = op.inputs[0].shape.with_rank(2)[0]
    units = op.inputs[1].shape.with_rank(2)[1]
    return [TensorShape([batch, units])] * 4


@shape_rule("GRUBlockCellGrad")
def _gru_cell_grad_shapes(op):
    x, state, gates = (op.inputs[i].shape.with_rank(2) for i in range(3))
    return [TensorShape([x[0], x[1]])] + [TensorShape([x[0], state[1]])] * 2 + [TensorShape([x[0], gates[1]])]


@shape_rule("GatherTree")
def _gather_tree_shape(op):
    steps, parents = op.inputs[0].shape.with_rank(3), op.inputs[1].shape.with_rank(3)
    lengths = op.inputs[2].shape.with_rank(1)
    op.inputs[3].shape.with_rank(0)
    merged = steps.merge_with(parents)
    if not merged.dims[1].is_compatible_with(lengths[0]):
        raise ValueError(f"Dimensions must be equal, but are {merged[1]} and {lengths[0]}")
    return merged


not_differentiable("GatherTree")


@gradient("LSTMBlockCell")
def _lstm_cell_grad(op, *grads):
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    i, cs, f, o, ci, co, _ = op.outputs
    _, cs_grad, _, _, _, _, h_grad = grads
    batch = x.shape.with_rank(2).size(0) or -1
    input_size = x.shape.with_rank(2).size(1)
    if input_size is None:
        raise ValueError("input_size from `x` must be statically inferred.")
    units = cs_prev.shape.with_rank(2).size(1)
    if units is None:
        raise ValueError("cell_size from `cs_prev` must be statically inferred.")
    cs_prev_grad, gates_grad, wci_grad, wcf_grad, wco_grad = raw.LSTMBlockCellGrad(
        x=x, cs_prev=cs_prev, h_prev=h_prev, w=w, wci=wci, wcf=wcf, wco=wco, b=b, i=i, cs=cs, f=f, o=o, ci=ci, co=co,
        cs_grad=cs_grad, h_grad=h_grad, use_peephole=op.get_attr("use_peephole"),
    )  # fmt: skip
    joined_grad = math.matmul(gates_grad, w, transpose_b=True)
    x_grad = array.slice_(joined_grad, (0, 0), (batch, input_size))
    x_grad.shape.merge_with(x.shape)
    h_prev_grad = array.slice_(joined_grad, (0, input_size), (batch, units))
    joined = array.concat([x, h_prev], 1)
    w_grad = math.matmul(joined, gates_grad, transpose_a=True)
    b_grad = raw.BiasAddGrad(out_backprop=gates_grad)
    return x_grad, cs_prev_grad, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, b_grad


@gradient("BlockLSTM")
def _lstm_grad(op, *grads):
    _, cs_grad, _, _, _, _, h_grad = grads
    names = ("seq_len_max", "x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
    results = raw.BlockLSTMGrad(
        **dict(zip(names, op.inputs)),
        **dict(zip(("i", "cs", "f", "o", "ci", "co", "h"), op.outputs)),
        cs_grad=cs_grad,
        h_grad=h_grad,
        use_peephole=op.get_attr("use_peephole"),
    )
    return [None, *results]


@gradient("GRUBlockCell")
def _gru_cell_grad(op, *grads):
    x, h_prev, w_ru, w_c, b_ru, b_c = op.inputs
    r, u, c, _ = op.outputs
    d_x, d_h_prev, d_c_bar, d_gates = raw.GRUBlockCellGrad(
        x=x, h_prev=h_prev, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c, r=r, u=u, c=c, d_h=grads[3]
    )
    d_w_ru = math.matmul(array.concat([x, h_prev], 1), d_gates, transpose_a=True)
    d_b_ru = raw.BiasAddGrad(out_backprop=d_gates)
    d_w_c = math.matmul(array.concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    d_b_c = raw.BiasAddGrad(out_backprop=d_c_bar)
    return d_x, d_h_prev, d_w_ru, d_w_c, d_b_ru, d_b_c
