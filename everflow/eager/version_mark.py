"""Whether this is a program for TensorFlow 2: what was said last, or the environment. `tensorflow.python.tf2` is this
module, so its names are those of there; tests put `_force_enable` back to None.
"""

from __future__ import annotations

import os

_force_enable: bool | None = None  # the environment counts where it is None


def enable() -> None:
    """Mark this program as one for TensorFlow 2."""
    global _force_enable
    _force_enable = True


def disable() -> None:
    """Mark this program as one for TensorFlow 1."""
    global _force_enable
    _force_enable = False


def enabled() -> bool:
    """Whether this is a program for TensorFlow 2: by what was said last, or by TF2_BEHAVIOR in the environment."""
    return os.environ.get("TF2_BEHAVIOR", "0") != "0" if _force_enable is None else _force_enable
