"""Recurrent networks: cells, wrappers of cells, and what runs them over time."""

from everflow.rnn.dynamic import bidirectional_dynamic_rnn, dynamic_rnn, raw_rnn
from everflow.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn

__all__ = [
    "bidirectional_dynamic_rnn",
    "dynamic_rnn",
    "raw_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
]
