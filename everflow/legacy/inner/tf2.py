"""tensorflow.python.tf2: a mark that a program sets and asks for; what it asks for is in `ops/v2_behavior.py`."""

from __future__ import annotations

import os

# What `enable` or `disable` said last; the environment counts where that is None.
_force_enable: bool | None = None


def enable() -> None:
    """Mark this program as one for TensorFlow 2."""
    global _force_enable
    _force_enable = True


def disable() -> None:
    """Mark this program as one for TensorFlow 1."""
    global _force_enable
    _force_enable = False


def enabled() -> bool:
    """Whether the program is marked as one for TensorFlow 2: by itself, or by TF2_BEHAVIOR in the environment."""
    return os.environ.get("TF2_BEHAVIOR", "0") != "0" if _force_enable is None else _force_enable
