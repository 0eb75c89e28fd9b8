"""tf.contrib.stateless: the stateless random ops under their first names."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.ops.random.stateless import (
    stateless_multinomial,
    stateless_random_normal,
    stateless_random_uniform,
    stateless_truncated_normal,
)
