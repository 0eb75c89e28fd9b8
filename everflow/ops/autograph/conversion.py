"""A Python function converted so that its branches and loops work on tensors."""

from __future__ import annotations


def converted(function):
    """The function with branches and loops that work on tensors."""
    return function
