"""Recurrent cells of TensorFlow Lite: against torch's own, and states that stay from run to run."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from everflow.formats.tflite import ACTIVATIONS
from everflow.kernels.lite import recurrent
from everflow.kernels.lite.registry import Call

TANH = ACTIVATIONS.index("TANH")
BATCH, DEPTH, UNITS, TIME = 2, 4, 3, 5


def call(name, **options):
    given = {"fused_activation_function": TANH, "cell_clip": 0.0, "proj_clip": 0.0, "kernel_type": 0, **options}
    return Call(name, SimpleNamespace(**given), (), ())


def lstm_inputs(cell, x):
    """The op's inputs from the parameters of torch's cell, whose gates are input, forget, new, output."""
    weights, recurrents = cell.weight_ih.detach().chunk(4), cell.weight_hh.detach().chunk(4)
    biases = (cell.bias_ih + cell.bias_hh).detach().chunk(4)
    return [
        x,
        *weights,
        *recurrents,
        None,
        None,
        None,
        *biases,
        None,
        None,
        torch.zeros(BATCH, UNITS),
        torch.zeros(BATCH, UNITS),
    ]


def steps(cell, x):
    state, found = (torch.zeros(BATCH, UNITS), torch.zeros(BATCH, UNITS)), []
    for part in x:
        state = cell(part, state)
        found.append(state[0].detach())
    return torch.stack(found), state[1].detach()


@pytest.fixture
def cell():
    torch.manual_seed(0)
    return torch.nn.LSTMCell(DEPTH, UNITS)


def test_one_step_after_the_other(cell):
    x = torch.randn(TIME, BATCH, DEPTH)
    wanted, last = steps(cell, x)
    inputs = lstm_inputs(cell, x[0])
    for part, expected in zip(x, wanted):
        found = recurrent.lstm(call("LSTM"), part, *inputs[1:])
        torch.testing.assert_close(found, expected)
    torch.testing.assert_close(inputs[18], wanted[-1])
    torch.testing.assert_close(inputs[19], last)


@pytest.mark.parametrize("time_major", [True, False])
def test_whole_sequences(cell, time_major):
    x = torch.randn(TIME, BATCH, DEPTH)
    wanted, _ = steps(cell, x)
    inputs = lstm_inputs(cell, x if time_major else x.transpose(0, 1))
    found = recurrent.sequence_lstm(call("UNIDIRECTIONAL_SEQUENCE_LSTM", time_major=time_major), *inputs)
    torch.testing.assert_close(found if time_major else found.transpose(0, 1), wanted)


def test_without_an_input_gate_what_is_not_forgotten_is_taken_in(cell):
    inputs = lstm_inputs(cell, torch.randn(BATCH, DEPTH))
    inputs[1] = inputs[5] = inputs[12] = None
    forget = torch.sigmoid(inputs[0] @ inputs[2].T + inputs[13])
    new = torch.tanh(inputs[0] @ inputs[3].T + inputs[14])
    recurrent.lstm(call("LSTM"), *inputs)
    torch.testing.assert_close(inputs[19], (1 - forget) * new)


def test_clips_and_projections(cell):
    inputs = lstm_inputs(cell, 100 * torch.randn(BATCH, DEPTH))
    inputs[16], inputs[18] = 50 * torch.ones(2, UNITS), torch.zeros(BATCH, 2)
    inputs[5:9] = [torch.zeros(UNITS, 2)] * 4
    found = recurrent.lstm(call("LSTM", cell_clip=0.1, proj_clip=0.5), *inputs)
    assert found.shape == (BATCH, 2) and inputs[19].abs().max() <= 0.1 and found.abs().max() <= 0.5


def test_a_cell_with_all_gates_in_one_matrix(cell):
    x, hidden, state = torch.randn(BATCH, DEPTH), torch.randn(BATCH, UNITS), torch.randn(BATCH, UNITS)
    wanted, wanted_cell = cell(x, (hidden, state))
    order = [0, 2, 1, 3]  # input, new, forget, output
    both = torch.cat([cell.weight_ih, cell.weight_hh], 1).detach().chunk(4)
    biases = (cell.bias_ih + cell.bias_hh).detach().chunk(4)
    found, found_cell, _, gates = recurrent.lstm(
        call("LSTM", kernel_type=1),
        x,
        hidden,
        torch.cat([both[i] for i in order]),
        torch.cat([biases[i] for i in order]),
        state,
    )
    torch.testing.assert_close(found, wanted.detach())
    torch.testing.assert_close(found_cell, wanted_cell.detach())
    assert gates.shape == (BATCH, 4 * UNITS)


@pytest.mark.parametrize("time_major", [True, False])
def test_plain_recurrent_layers(time_major):
    torch.manual_seed(1)
    cell = torch.nn.RNNCell(DEPTH, UNITS)
    x = torch.randn(TIME, BATCH, DEPTH)
    parameters = [cell.weight_ih.detach(), cell.weight_hh.detach(), (cell.bias_ih + cell.bias_hh).detach()]
    hidden, wanted = torch.zeros(BATCH, UNITS), []
    for part in x:
        hidden = cell(part, hidden).detach()
        wanted.append(hidden)
    state = torch.zeros(BATCH, UNITS)
    given = x if time_major else x.transpose(0, 1)
    found = recurrent.sequence_rnn(call("RNN", time_major=time_major), given, *parameters, state)
    torch.testing.assert_close(found if time_major else found.transpose(0, 1), torch.stack(wanted))
    torch.testing.assert_close(state, hidden)


def test_a_layer_over_features_and_time_remembers_the_last_steps():
    rank, filters, memory = 2, 4, 3
    features, times = torch.randn(filters, DEPTH), torch.randn(filters, memory)
    state = torch.zeros(BATCH, filters * memory)
    x = torch.randn(TIME, BATCH, DEPTH)
    options = call("SVDF", rank=rank, fused_activation_function=0)
    for part in x:
        found = recurrent.svdf(options, part, features, times, None, state)
    kept = torch.stack([part @ features.T for part in x[-memory:]], -1)
    wanted = (kept * times).sum(-1).reshape(BATCH, filters // rank, rank).sum(-1)
    torch.testing.assert_close(found, wanted)
    np.testing.assert_allclose(state.reshape(kept.shape), kept, rtol=1e-6)
