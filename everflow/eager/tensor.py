"""`EagerTensor`: a tensor that has its value."""

from __future__ import annotations

import itertools
import operator

import numpy as np

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape, as_shape
from everflow.kernels import tensors
from everflow.runtime.devices import CPU

_numbers = itertools.count()
_WITHOUT_ARRAYS = (dtypes.resource, dtypes.variant)


def _plain(value):
    return str(value)


def _exact(value):
    """An array's own form; scalars as Python writes them."""
    return repr(value) if isinstance(value, (np.ndarray, bytes)) else repr(value.item())


class EagerTensor(Tensor):
    """A tensor with a value, made by an operation that ran at once.

    >>> tf.enable_eager_execution()
    >>> (tf.constant([1, 2]) * 3).numpy()
    array([3, 6], dtype=int32)
    """

    is_eager = True

    def __init__(self, value, dtype):
        self._value = value
        self._dtype = dtype
        self._known_shape = None
        self._handle_data = None
        self._keras_mask = None
        self._id = next(_numbers)

    # --- facts -------------------------------------------------------------------------------

    @property
    def shape(self):
        if self._known_shape is None:
            self._known_shape = TensorShape(list(getattr(self._value, "shape", ())))
        return self._known_shape

    _shape = shape

    def get_shape(self):
        """The shape."""
        return self.shape

    def set_shape(self, shape):
        """Check the shape; ValueError where it is another."""
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}")

    @property
    def ndim(self):
        """How many dimensions it has."""
        return self.shape.rank

    @property
    def device(self):
        return CPU

    @property
    def backing_device(self):
        """The device whose memory holds it."""
        return CPU

    def _no_graph(self, what):
        raise AttributeError(f"Tensor.{what} is meaningless when eager execution is enabled.")

    op = property(lambda self: self._no_graph("op"))
    graph = property(lambda self: self._no_graph("graph"))
    name = property(lambda self: self._no_graph("name"))
    value_index = property(lambda self: self._no_graph("value_index"))

    def consumers(self):
        raise NotImplementedError("consumers not supported for Eager Tensors")

    def eval(self, feed_dict=None, session=None):
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're looking for?")

    _made_by = ""
    _op_name = "Tensor"

    def is_in(self, graph):
        return False

    # --- the value ---------------------------------------------------------------------------

    def _array(self):
        """The value as an array that nobody may write to."""
        if self._dtype in _WITHOUT_ARRAYS:
            raise InvalidArgumentError(None, None, f"Cannot convert a Tensor of dtype {self._dtype.name} to a NumPy array.")
        return tensors.to_numpy(self._value, self._dtype)

    def numpy(self):
        """The value as a numpy array of its own, or as a number of numpy's or bytes where it is a scalar."""
        array = self._array()
        return array.copy() if array.ndim else array[()]

    def __array__(self, dtype=None, copy=None):
        array = self._array()
        return array.copy() if dtype is None else array.astype(dtype)

    def _scalar(self, kinds, what):
        array = self._array()
        if array.ndim:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        if array.dtype.kind not in kinds:
            raise TypeError(f"A tensor of {self._dtype.name} can't be used as {what}")
        return array[()]

    def __int__(self):
        return int(self._scalar("iufb", "an integer"))

    def __float__(self):
        return float(self._scalar("iufb", "a float"))

    def __complex__(self):
        return complex(self._scalar("iufbc", "a complex number"))

    def __index__(self):
        return operator.index(self._scalar("iu", "an index"))

    def __bool__(self):
        array = self._array()
        if array.size > 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        return bool(array)

    __nonzero__ = __bool__

    def __format__(self, spec):
        return self._array()[()].__format__(spec)

    def __len__(self):
        if not self.shape.rank:
            raise TypeError("Scalar tensor has no `len()`")
        return self.shape.sizes[0]

    def __iter__(self):
        if not self.shape.rank:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value):
        return value in self._array()

    def __reduce__(self):
        from everflow.ops.constants import constant

        return constant, (self._array(), self._dtype)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # --- where it is -------------------------------------------------------------------------

    def cpu(self):
        """Itself: its memory is the CPU's."""
        return self

    def gpu(self, gpu_index=0):
        """A copy in a GPU's memory; RuntimeError where there is none."""
        raise RuntimeError(f"Error copying tensor to device: GPU:{gpu_index}. GPU:{gpu_index} unknown device.")

    # --- text --------------------------------------------------------------------------------

    def _text(self, show=_exact):
        if self._dtype in _WITHOUT_ARRAYS:
            return "<unprintable>"
        array = self._array()
        return show(array if array.ndim else array[()])

    def __str__(self):
        return f"tf.Tensor({self._text(_plain)}, shape={self.shape}, dtype={self._dtype.name})"

    def __repr__(self):
        return f"<tf.Tensor: id={self._id}, shape={self.shape}, dtype={self._dtype.name}, numpy={self._text()}>"
