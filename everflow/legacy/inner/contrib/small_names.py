"""Single names from inside of packages of tf.contrib, which have no module of their own here."""

from __future__ import annotations

from everflow.contrib.bayesflow.monte_carlo import _log_mean_exp as _logspace_mean
from everflow.contrib.bayesflow.monte_carlo import _samples as _get_samples
from everflow.contrib.losses.metric_learning import _masked_maximum as masked_maximum
from everflow.contrib.losses.metric_learning import _masked_minimum as masked_minimum
from everflow.contrib.losses.metric_learning import _pairwise_distance as pairwise_distance
from everflow.contrib.metrics.areas import _cumulative_sum
from everflow.contrib.metrics.statistics import _next_size
from everflow.contrib.text.skip_gram import _filter

__all__ = [
    "_filter_input",
    "_get_samples",
    "_logspace_mean",
    "_next_array_size",
    "_strict_1d_cumsum",
    "masked_maximum",
    "masked_minimum",
    "pairwise_distance",
]


def _filter_input(input_tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed):
    """The tokens that a vocabulary has, often enough, less some of those that come very often."""
    return _filter(input_tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)


def _next_array_size(required_size, growth_factor=1.5):
    """How much room is made for so many values."""
    return _next_size(required_size, growth_factor)


def _strict_1d_cumsum(tensor, len_tensor):
    """Running sums."""
    return _cumulative_sum(tensor, len_tensor)
