"""tensorflow.python.autograph.utils.testing: a module that stands for tensorflow."""

from __future__ import annotations

import types

import everflow


def fake_tf() -> types.ModuleType:
    """A module of that name with what tensorflow has."""
    made = types.ModuleType("tensorflow")
    made.__getattr__ = lambda name: getattr(everflow, name)  # type: ignore[method-assign]
    return made
