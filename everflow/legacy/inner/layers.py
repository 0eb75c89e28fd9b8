"""Names that programs take from inside TensorFlow's module `layers.utils`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.keras.engine.arguments import sizes
from everflow.legacy.inner import keras
from everflow.ops.control_flow.conditionals import smart_constant_value as constant_value

__all__ = [
    "constant_value",
    "deconv_output_length",
    "get_reachable_from_inputs",
    "normalize_tuple",
    "object_list_uid",
    "static_shape",
]


def object_list_uid(object_list: Any) -> str:
    """What tells objects, or lists of them, apart: their identities, with commas between."""
    return ", ".join(str(abs(id(each))) for each in nest.flatten(object_list))


def static_shape(x: Any) -> tuple[int | None, ...] | None:
    """The sizes that are known of a tensor or variable; None where not even their number is."""
    return None if x.shape.rank is None else tuple(x.shape.as_list())


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """`n` whole numbers, from one or from as many; `name` is what errors call them."""
    return sizes(value, n, name)


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """How long what a transposed convolution makes is, as layers reckon that."""
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": 2 - stride - filter_size}
    return input_length * stride + more.get(padding, 0)


def get_reachable_from_inputs(inputs: Sequence, targets: Sequence | None = None) -> set:
    """Every tensor that some lead to; no further than all of `targets`."""
    return {t for t in keras.get_reachable_from_inputs(inputs, targets) if isinstance(t, Tensor)}
