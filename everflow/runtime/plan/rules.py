"""The table of rewrites. Each keeps the values that a run gives; `tests/runtime/test_rewrite.py` holds each to it."""

from __future__ import annotations

RULES = []
