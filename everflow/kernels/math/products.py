"""Products of two matrices, by whichever of ATen's two libraries is quicker for them.

The BLAS has less to do before it begins. oneDNN multiplies large matrices faster, most of all with several threads, as
long as it need not turn the first one round.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from everflow.kernels.context import Node

# Multiplications of numbers from which oneDNN is worth its call, some 13 µs, ...
LARGE = 3 << 21
# ... and columns of the product from which it is worth turning the first matrix round.
WIDE = 1024


@functools.cache
def _linear() -> Callable[..., torch.Tensor] | None:
    """oneDNN's x wᵀ + b, where ATen has it. (On other processors ATen's own products already go there.)"""
    if platform.machine().lower() not in ("x86_64", "amd64") or not torch.backends.mkldnn.is_available():
        return None
    found = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    return None if found is None else found.default


def is_for_onednn(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether a product is better left to oneDNN; sizes and order in memory decide, and nothing else."""
    if a.dtype is not torch.float32 or b.dtype is not torch.float32 or a.dim() != 2 or b.dim() != 2:
        return False
    (rows, inner), (height, columns) = a.shape, b.shape
    if rows * inner * columns < LARGE or inner != height or not (a.stride(1) == 1 or columns >= WIDE):
        return False
    return a.is_cpu and b.is_cpu and _linear() is not None


def multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a b."""
    return _by_onednn(a, b, None) if is_for_onednn(a, b) else torch.mm(a, b)


def multiply_and_add(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """a b + bias. Both libraries add it last, to the finished product. (`addmm` would begin with it, and is no quicker.)"""
    if is_for_onednn(a, b) and bias.shape == b.shape[1:] and bias.is_contiguous():
        return _by_onednn(a, b, bias)
    return multiply(a, b).add_(bias)


def _by_onednn(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    linear = _linear()
    assert linear is not None
    return linear(a, b.t(), bias, "none", [], "")


def is_surely_small(node: Node) -> bool:
    """Whether the graph says of a product that it is too small for oneDNN."""
    shapes = [source.output_shapes[output] for source, output in node.inputs[:2]]
    sizes = [None if shape is None else shape.num_elements() for shape in shapes]
    made = node.output_shapes[0]
    sizes.append(None if made is None else made.num_elements())
    if None in sizes:
        return False
    a, b, product = (size or 0 for size in sizes)
    return a * b * product < LARGE**2  # of [m, k], [k, n] and [m, n]
