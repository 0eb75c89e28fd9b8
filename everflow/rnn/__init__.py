"""Recurrent networks: cells, wrappers of cells, and what runs them over time."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.rnn.dynamic import bidirectional_dynamic_rnn, dynamic_rnn, raw_rnn
from everflow.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
