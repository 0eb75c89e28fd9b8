"""Grids of one, two and three dimensions with the usual cells; the first takes the input and gives the output."""

from __future__ import annotations

from everflow.contrib.grid_rnn.grid import GridRNNCell
from everflow.platform.signatures import takes
from everflow.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell


class _InDepth(GridRNNCell):
    """A grid whose dimension 0 is depth: input, output and priority are there, and it may be without recurrence."""

    def __init__(self, count, num_units, cell_fn, state_is_tuple, output_is_tuple, tied=False, non_recurrent_fn=None):
        functions = None if non_recurrent_fn is None else 0, tied, cell_fn, non_recurrent_fn
        super().__init__(num_units, count, 0, 0, 0, *functions, state_is_tuple, output_is_tuple)


_TUPLES = {"state_is_tuple": True, "output_is_tuple": True}
_LSTM = {"use_peepholes": False, "forget_bias": 1.0}
_TIED = {"tied": False, "non_recurrent_fn": None}


class Grid1BasicRNNCell(_InDepth):
    """One dimension of plain recurrence."""

    @takes(_TUPLES)
    def __init__(self, num_units, **given):
        super().__init__(1, num_units, BasicRNNCell, **given)


class Grid1BasicLSTMCell(_InDepth):
    """One dimension of an LSTM without peepholes."""

    @takes(_TUPLES)
    def __init__(self, num_units, forget_bias=1, **given):
        super().__init__(1, num_units, _basic_lstm(forget_bias), **given)


class Grid1LSTMCell(_InDepth):
    """One dimension of an LSTM."""

    @takes(_TUPLES)
    def __init__(self, num_units, use_peepholes=False, forget_bias=1.0, **given):
        super().__init__(1, num_units, _lstm(use_peepholes, forget_bias), **given)


class Grid2BasicRNNCell(_InDepth):
    """Depth and time, plain recurrence along both."""

    @takes({**_TIED, **_TUPLES})
    def __init__(self, num_units, **given):
        super().__init__(2, num_units, BasicRNNCell, **given)


class Grid2BasicLSTMCell(_InDepth):
    """Depth and time, LSTMs without peepholes along both."""

    @takes({**_TIED, "forget_bias": 1, **_TUPLES})
    def __init__(self, num_units, **given):
        super().__init__(2, num_units, _basic_lstm(given.pop("forget_bias")), **given)


class Grid2LSTMCell(_InDepth):
    """Depth and time, LSTMs along both."""

    @takes({**_TIED, **_LSTM, **_TUPLES})
    def __init__(self, num_units, **given):
        super().__init__(2, num_units, _lstm(*(given.pop(name) for name in _LSTM)), **given)


class Grid3LSTMCell(_InDepth):
    """Depth and two more dimensions, LSTMs along all."""

    @takes({**_TIED, **_LSTM, **_TUPLES})
    def __init__(self, num_units, **given):
        super().__init__(3, num_units, _lstm(*(given.pop(name) for name in _LSTM)), **given)


class Grid2GRUCell(_InDepth):
    """Depth and time, GRUs along both."""

    @takes({**_TIED, **_TUPLES})
    def __init__(self, num_units, **given):
        super().__init__(2, num_units, GRUCell, **given)


def _basic_lstm(forget_bias):
    return lambda units: BasicLSTMCell(units, forget_bias=forget_bias)


def _lstm(use_peepholes, forget_bias):
    return lambda units: LSTMCell(units, use_peepholes=use_peepholes, forget_bias=forget_bias)
