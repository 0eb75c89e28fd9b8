"""Models that are ready to use: a linear one, and one beside a deep one."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.keras.premade.linear import LinearModel
from everflow.keras.premade.wide_deep import WideDeepModel
