"""tf.contrib.grid_rnn: cells of grids, with a recurrence along each of several dimensions."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import absolute_import, division, print_function  # noqa: UP010  Names of this module as well.

from collections import namedtuple

from everflow.contrib.grid_rnn.cells import (
    Grid1BasicLSTMCell,
    Grid1BasicRNNCell,
    Grid1LSTMCell,
    Grid2BasicLSTMCell,
    Grid2BasicRNNCell,
    Grid2GRUCell,
    Grid2LSTMCell,
    Grid3LSTMCell,
)
from everflow.contrib.grid_rnn.grid import GridRNNCell
