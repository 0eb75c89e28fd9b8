"""Names that programs take from inside tensorflow.python.ops.distributions.special_math: the series of log_ndtr."""

from __future__ import annotations

import numpy as np

from everflow.distributions.normal_functions import _series as _log_ndtr_asymptotic_series

__all__ = ["_double_factorial", "_log_ndtr_asymptotic_series"]


def _double_factorial(n: int) -> np.integer:
    """The product of every second number from n down."""
    return np.prod(np.arange(n, 1, -2))
