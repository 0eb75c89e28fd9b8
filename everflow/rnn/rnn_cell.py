"""tf.nn.rnn_cell: the cells and their wrappers in one place."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, MultiRNNCell, RNNCell
from everflow.rnn.wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
