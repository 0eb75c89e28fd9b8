"""tensorflow.python.tf2: a mark that a program sets and asks for."""

from __future__ import annotations

from everflow.eager import v2_behavior
from everflow.eager.v2_behavior import is_two as enabled  # noqa: F401  its name there


def enable() -> None:
    """Mark this program as one for TensorFlow 2."""
    v2_behavior.mark(True)


def disable() -> None:
    """Mark this program as one for TensorFlow 1."""
    v2_behavior.mark(False)
