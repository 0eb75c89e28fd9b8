"""Objects that keep what their constructor was given."""

from __future__ import annotations

# What bases of layers and cells keep themselves.
_OF_BASES = {"self", "__class__", "reuse", "name", "dtype", "kwargs"}


def keep(instance, arguments, *without):
    """Set an attribute `_x` for each argument x, the constructor's `locals()`, but for some of them."""
    for name, value in arguments.items():
        if name not in _OF_BASES and name not in without:
            setattr(instance, f"_{name}", value)
