"""The Einsum kernel: ATen's, with TensorFlow's checks of the equation, any labels, and labels that the output has twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from everflow.framework import slicing
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.shapes import TensorShape
from everflow.kernels.facts import view
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor


@kernel("Einsum", result=view(0), threads_matter_from=0)
def einsum(inputs: list[AnyTensor], *, equation: str) -> torch.Tensor:
    try:
        labels, wanted = slicing.read_equation(equation, len(inputs))
        sizes: dict[str, TensorShape] = {}
        for side, tensor in zip(labels, inputs, strict=True):
            for label, part in slicing.sizes_of_labels(side, TensorShape(tensor.shape)).items():
                sizes[label] = part if label == "..." else sizes.get(label, part).merge_with(part)
    except ValueError as e:
        raise InvalidArgumentError(None, None, str(e)) from e
    numbers = {label: chr(ord("a") + i) for i, label in enumerate(label for label in sizes if label != "...")}
    sides = ["".join(numbers.get(label, label) for label in side) for side in labels]
    kept = list(dict.fromkeys(wanted))  # a label that the output has again is put on the diagonal afterwards
    result = torch.einsum(f"{','.join(sides)}->{''.join(numbers.get(label, label) for label in kept)}", *inputs)
    return result if len(kept) == len(wanted) else _on_diagonals(result, kept, wanted)


def _on_diagonals(found: torch.Tensor, kept: list[str], wanted: list[str]) -> torch.Tensor:
    """A tensor whose axes are `kept`, as one whose axes are `wanted`, zero where those of one label differ."""
    rest = found.ndim - len([label for label in kept if label != "..."])
    lengths = {label: rest if label == "..." else 1 for label in kept}
    axes: dict[str, list[int]] = {}
    start = 0
    for label in kept:
        axes[label] = list(range(start, start + lengths[label]))
        start += lengths[label]
    result = found.new_zeros([found.shape[axis] for label in wanted for axis in axes[label]])
    strides = [0] * found.ndim
    for place, axis in enumerate(axis for label in wanted for axis in axes[label]):
        strides[axis] += result.stride(place)
    result.as_strided(found.shape, strides).copy_(found)
    return result
