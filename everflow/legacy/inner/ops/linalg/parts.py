"""Names that programs take from inside TensorFlow's linear operators: Fourier transforms by the number of axes, tensors as
these take them, and the turn of axes behind Kronecker products.
"""

from __future__ import annotations

from typing import Any

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array, math
from everflow.ops.linalg.operators.circulant import _TRANSFORMS
from everflow.ops.linalg.operators.circulant import _as_complex as _to_complex

__all__ = ["_FFT_OP", "_IFFT_OP", "_rotate_last_dim", "_to_complex"]

_FFT_OP = {axes: there for axes, (there, _) in _TRANSFORMS.items()}
_IFFT_OP = {axes: back for axes, (_, back) in _TRANSFORMS.items()}


def _rotate_last_dim(x: Any, rotate_right: bool = False) -> Tensor:
    """The first axis made the last one, or the last one the first."""
    x = convert_to_tensor(x)
    last = array.rank(x) - 1
    order = [[last], math.range(0, last)] if rotate_right else [math.range(1, last + 1), [0]]
    return array.transpose(x, array.concat(order, axis=0))
