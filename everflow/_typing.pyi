"""Words of the stubs: what functions take where TensorFlow 1 takes many things."""

import collections as _collections
import os
import unittest as _unittest
from collections.abc import Callable as Callable
from collections.abc import Generator as Generator
from collections.abc import Iterable as Iterable
from collections.abc import Iterator as Iterator
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from contextlib import AbstractContextManager as AbstractContextManager
from enum import Enum as Enum
from enum import IntEnum as IntEnum
from typing import Any as Any
from typing import NamedTuple as NamedTuple
from typing import Protocol
from typing import TypeAlias

import numpy as np
from typing_extensions import Self as Self

import everflow as tf

TestCase = _unittest.TestCase
OrderedDict = _collections.OrderedDict

class SupportsArray(Protocol):
    """Anything numpy can make an array of, among it arrays and tensors of other libraries."""

    def __array__(self) -> Any: ...

class SupportsTensor(Protocol):
    """Variables, distributed values, and other objects that stand for a tensor."""

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> Any: ...

# What is made a tensor of: a tensor, a variable, a number, text, an array, or lists of those.
TensorLike: TypeAlias = (
    tf.Tensor
    | SupportsTensor
    | SupportsArray
    | complex
    | str
    | bytes
    | np.generic
    | Sequence[Any]
    | tf.Dimension
    | tf.TensorShape
)
# A number, or a tensor that holds one.
ScalarLike: TypeAlias = float | tf.Tensor | SupportsTensor | SupportsArray | np.generic | tf.Dimension
# A size that must be known when the graph is drawn.
SizeLike: TypeAlias = int | np.integer[Any] | tf.Dimension
# One axis, or several.
AxisLike: TypeAlias = int | Sequence[Any] | tf.Tensor | SupportsTensor | SupportsArray | np.generic
# A shape; None in it is a size that isn't known, None for all of it a rank that isn't.
ShapeLike: TypeAlias = tf.TensorShape | Sequence[Any] | int | tf.Tensor | SupportsTensor | SupportsArray | tf.Dimension | None
# tf.float32, "float32", np.float32, float.
DTypeLike: TypeAlias = tf.DType | np.dtype[Any] | type[Any] | str | int
# A file's or folder's name.
PathLike: TypeAlias = str | bytes | os.PathLike[str]
