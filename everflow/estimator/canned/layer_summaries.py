"""Summaries that the ready-made networks write about each layer."""

from __future__ import annotations

from everflow import summary
from everflow.ops.nn.activations import zero_fraction


def add_layer_summary(value, tag):
    """How many of a layer's outputs are zero, and their histogram."""
    summary.scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    summary.histogram(f"{tag}/activation", value)
