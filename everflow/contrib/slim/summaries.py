"""tf.contrib.slim.summaries: summaries of tensors by their names, of one and of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection
from everflow.ops.io import summaries
from everflow.ops.io.printing import Print
from everflow.ops.nn.activations import zero_fraction


def _tag(tensor: Tensor, name: str | None, prefix: str | None, suffix: str | None = None) -> str:
    tag = name or tensor.op.name
    tag = f"{prefix}/{tag}" if prefix else tag
    return f"{tag}/{suffix}" if suffix else tag


def _added(build: Callable, tag: str, tensor: Tensor, print_summary: bool) -> Tensor:
    made = build(tag, tensor, collections=[])
    if print_summary:
        made = Print(made, [tensor], tag)
    add_to_collection(GraphKeys.SUMMARIES, made)
    return made


def add_histogram_summary(tensor: Tensor, name: str | None = None, prefix: str | None = None) -> Tensor:
    """A histogram of a tensor, by its own name or another, behind a prefix."""
    return _added(summaries.histogram, _tag(tensor, name, prefix), tensor, False)


def add_image_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """Images of a tensor; with `print_summary` its values are printed, too."""
    return _added(summaries.image, _tag(tensor, name, prefix), tensor, print_summary)


def add_scalar_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """A number; with `print_summary` it is printed, too."""
    return _added(summaries.scalar, _tag(tensor, name, prefix), tensor, print_summary)


def add_zero_fraction_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """The part of a tensor's entries that are zero."""
    tag = _tag(tensor, name, prefix, "Fraction_of_Zero_Values")
    return _added(summaries.scalar, tag, zero_fraction(tensor), print_summary)


def add_histogram_summaries(tensors: Sequence[Tensor], prefix: str | None = None) -> list[Any]:
    """A histogram of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Sequence[Tensor], prefix: str | None = None) -> list[Any]:
    """Images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(
    tensors: Sequence[Tensor], prefix: str | None = None, print_summary: bool = False
) -> list[Any]:
    """A number for each tensor."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors: Sequence[Tensor], prefix: str | None = None) -> list[Any]:
    """For each tensor, the part of its entries that are zero."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
