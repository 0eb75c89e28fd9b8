"""Kernels of whole recurrent cells: against the cells made of small ops, and their gradients against those of torch."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.nn.rnn_blocks import (
    block_lstm,
    block_lstm_grad,
    gather_tree,
    gru_block_cell,
    gru_block_cell_grad,
    lstm_block_cell,
    lstm_block_cell_grad,
)


def _values(*shapes):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(*s, generator=generator, dtype=torch.float64).requires_grad_() for s in shapes]


@pytest.mark.parametrize("peephole", [False, True])
def test_lstm_cell_gradient(peephole):
    inputs = _values((2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,))
    outputs = lstm_block_cell(*inputs, forget_bias=1.0, cell_clip=-1.0, use_peephole=peephole)
    cs_grad, h_grad = (torch.sin(torch.arange(8.0, dtype=torch.float64) + i).reshape(2, 4) for i in range(2))
    wanted = torch.autograd.grad([outputs[1], outputs[6]], inputs, [cs_grad, h_grad], allow_unused=True)
    with torch.no_grad():
        cs_prev_grad, gates, *peepholes = lstm_block_cell_grad(
            *inputs, *outputs[:6], cs_grad, h_grad, use_peephole=peephole
        )
        x_grad = (gates @ inputs[3].mT)[:, :3]
    torch.testing.assert_close(cs_prev_grad, wanted[1])
    torch.testing.assert_close(x_grad, wanted[0])
    torch.testing.assert_close(gates.sum(0), wanted[7])
    if peephole:
        for found, want in zip(peepholes, wanted[4:7]):
            torch.testing.assert_close(found, want)


@pytest.mark.parametrize("peephole", [False, True])
def test_lstm_over_time_gradient(peephole):
    x, *rest = _values((4, 2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,))
    steps = torch.tensor(3)
    outputs = block_lstm(steps, x, *rest, forget_bias=0.5, cell_clip=-1.0, use_peephole=peephole)
    assert not outputs[6][3].any()
    cs_grad, h_grad = torch.zeros_like(outputs[1]), torch.cos(torch.arange(32.0, dtype=torch.float64)).reshape(4, 2, 4)
    wanted = torch.autograd.grad(outputs[6][:3], [x, *rest], h_grad[:3], allow_unused=True)
    with torch.no_grad():
        found = block_lstm_grad(steps, x, *rest, *outputs, cs_grad, h_grad, use_peephole=peephole)
    for got, want in zip(found, wanted):
        if want is not None:
            torch.testing.assert_close(got, want)


def test_gru_cell_gradient():
    inputs = _values((2, 3), (2, 4), (7, 8), (7, 4), (8,), (4,))
    r, u, c, h = gru_block_cell(*inputs)
    h_grad = torch.sin(torch.arange(8.0, dtype=torch.float64)).reshape(2, 4)
    wanted = torch.autograd.grad(h, inputs, h_grad)
    with torch.no_grad():
        d_x, d_h_prev, d_c_bar, d_gates = gru_block_cell_grad(*inputs, r, u, c, h_grad)
    for found, want in zip(
        (d_x, d_h_prev, d_gates.sum(0), d_c_bar.sum(0)), (wanted[0], wanted[1], wanted[4], wanted[5])
    ):
        torch.testing.assert_close(found, want)


def test_block_cell_equals_the_plain_one():
    x = np.sin(np.arange(6.0, dtype="f")).reshape(2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        block, plain = tf.contrib.rnn.LSTMBlockCell(4), tf.nn.rnn_cell.BasicLSTMCell(4)
        y, state = block(tf.constant(x), block.zero_state(2, tf.float32))
        y2, state2 = plain(tf.constant(x), plain.zero_state(2, tf.float32))
        session.run(tf.global_variables_initializer())
        for v, w in zip(plain.weights, block.weights):
            v.load(session.run(w), session)
        np.testing.assert_allclose(*session.run([y, y2]), rtol=1e-5)
        np.testing.assert_allclose(*session.run([state.c, state2.c]), rtol=1e-5)


def test_gather_tree_follows_parents_and_ends():
    steps = torch.tensor([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]])
    parents = torch.tensor([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]])
    beams = gather_tree(steps, parents, torch.tensor([3]), torch.tensor(10))
    assert beams[:, 0].tolist() == [[2, 2, 2], [6, 5, 6], [7, 8, 9]]
    ended = gather_tree(steps, parents, torch.tensor([2]), torch.tensor(2))
    assert ended[:, 0].tolist() == [[1, 2, 2], [4, 2, 2], [2, 2, 2]]
    with pytest.raises(InvalidArgumentError, match="invalid parent id 5"):
        gather_tree(steps, parents + 3, torch.tensor([3]), torch.tensor(10))


def test_the_second_version_has_its_gates_in_another_order():
    x, w, b = (np.random.RandomState(0).randn(*shape).astype("f") * 0.3 for shape in ((3, 2, 3), (7, 16), (16,)))
    order = np.concatenate([np.arange(4) + 4 * gate for gate in (0, 2, 1, 3)])
    state, peephole = np.zeros([2, 4], np.float32), np.zeros(4, np.float32)
    common = {
        "seq_len_max": np.int64(2),
        "x": x,
        "cs_prev": state,
        "h_prev": state,
        "wci": peephole,
        "wcf": peephole,
        "wco": peephole,
    }
    ones = {"cs_grad": np.ones([3, 2, 4], np.float32), "h_grad": np.ones([3, 2, 4], np.float32), "use_peephole": False}
    with tf.Graph().as_default(), tf.Session() as session:
        second = tf.raw_ops.BlockLSTMV2(w=w, b=b, use_peephole=False, **common)
        saved = {name: getattr(second, name) for name in ("i", "cs", "f", "o", "ci", "co", "h")}
        ours = tf.raw_ops.BlockLSTMGradV2(w=w, b=b, **common, **saved, **ones)
        first = tf.raw_ops.BlockLSTMGrad(w=w[:, order], b=b[order], **common, **saved, **ones)
        ours, first = session.run([ours, first])
    np.testing.assert_allclose(ours.x_grad, first.x_grad, rtol=1e-5)
    np.testing.assert_allclose(ours.w_grad[:, order], first.w_grad, rtol=1e-5)
    np.testing.assert_allclose(ours.b_grad[order], first.b_grad, rtol=1e-5)
