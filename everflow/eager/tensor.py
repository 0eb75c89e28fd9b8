"""`EagerTensor`: a tensor that has its value."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from everflow.framework import dtypes, tapes
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape, as_shape
from everflow.kernels import tensors
from everflow.ops.array.constants import constant
from everflow.runtime.process_options import PROCESS

if TYPE_CHECKING:
    import numpy.typing as npt

    from everflow.framework.graph import Graph
    from everflow.framework.hints import FeedDict, SessionLike, ShapeLike
    from everflow.runtime.hints import Value

_numbers = itertools.count()
WITHOUT_ARRAYS = (dtypes.resource, dtypes.variant)


def _plain(value: Any) -> str:
    return str(value)


def _exact(value: Any) -> str:
    """An array's own form; scalars by as many digits as tell them from others of their type."""
    return repr(value) if isinstance(value, (np.ndarray, bytes)) else str(value)


class EagerTensor(Tensor):
    """A tensor with a value, made by an operation that ran at once.

    >>> tf.enable_eager_execution()
    >>> (tf.constant([1, 2]) * 3).numpy()
    array([3, 6], dtype=int32)
    """

    is_eager = True
    # The device whose operation made it, where that is not the first of this task.
    _place = ""

    def __init__(self, value: Value, dtype: dtypes.DType) -> None:
        self._value = value
        self._dtype = dtype
        self._known_shape: TensorShape | None = None
        self._handle_data = None
        self._keras_mask = None
        self._id = next(_numbers)

    # --- facts -------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        if self._known_shape is None:
            self._known_shape = TensorShape(tuple(getattr(self._value, "shape", ())))
        return self._known_shape

    _shape = shape

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Check the shape; ValueError where it is another."""
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"A tensor of shape {self.shape} can't be said to have the shape {shape}")

    @property
    def ndim(self) -> int | None:
        """How many dimensions it has."""
        return self.shape.rank

    def _num_elements(self) -> int:
        return int(self._array().size)

    def _datatype_enum(self) -> int:
        return self.dtype.as_datatype_enum

    @property
    def device(self) -> str:
        return self._place or f"{PROCESS.task}/device:CPU:0"

    @property
    def backing_device(self) -> str:
        """The device whose memory holds it."""
        return self.device

    def _no_graph(self, what: str) -> NoReturn:
        raise AttributeError(f"Tensor.{what} is meaningless when eager execution is enabled.")

    op = property(lambda self: self._no_graph("op"))
    graph = property(lambda self: self._no_graph("graph"))
    name = property(lambda self: self._no_graph("name"))
    value_index = property(lambda self: self._no_graph("value_index"))

    def consumers(self) -> NoReturn:
        raise NotImplementedError("consumers not supported for Eager Tensors")

    def eval(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> NoReturn:
        raise NotImplementedError(
            "Executing eagerly a tensor has its value already: take it with .numpy() instead of eval"
        )

    _made_by = ""
    _op_name = "Tensor"

    def is_in(self, graph: Graph) -> bool:
        return False

    # --- the value ---------------------------------------------------------------------------

    def _array(self) -> np.ndarray:
        """The value as an array that nobody may write to."""
        if self._dtype in WITHOUT_ARRAYS:
            raise ValueError(f"Cannot convert a Tensor of dtype {self._dtype.name} to a NumPy array.")
        return tensors.to_numpy(self._value, self._dtype)

    _numpy = _array

    def numpy(self) -> Any:
        """The value as a numpy array of its own, or as a number of numpy's or bytes where it is a scalar."""
        array = self._array()
        if self._dtype.is_quantized:  # as what they count, as a session gives them
            array = array.view(array.dtype[0])
        return array.copy() if array.ndim else array[()]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        array = self._array()
        return array.copy() if dtype is None else array.astype(dtype)

    def _scalar(self, kinds: str, what: str) -> Any:
        array = self._array()
        if array.ndim:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        if array.dtype.kind not in kinds:
            raise TypeError(f"A tensor of {self._dtype.name} can't be used as {what}")
        return array[()]

    def __int__(self) -> int:
        return int(self._scalar("iufb", "an integer"))

    def __float__(self) -> float:
        return float(self._scalar("iufb", "a float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("iufbc", "a complex number"))

    def __index__(self) -> int:
        return operator.index(self._scalar("iu", "an index"))

    def __bool__(self) -> bool:
        array = self._array()
        if array.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(array)

    __nonzero__ = __bool__

    def __format__(self, spec: str) -> str:
        return self._array()[()].__format__(spec)

    def __len__(self) -> int:
        if not self.shape.rank:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[EagerTensor]:
        if not self.shape.rank:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return value in self._array()

    def __reduce__(self) -> tuple[Any, ...]:
        return constant, (self._array(), self._dtype)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        return self

    # --- where it is -------------------------------------------------------------------------

    def cpu(self) -> EagerTensor:
        """The same on the first device of this task: itself, where it is there."""
        return EagerTensor(self._value, self._dtype) if self._place else self

    def gpu(self, gpu_index: int = 0) -> NoReturn:
        """A copy in a GPU's memory; RuntimeError where there is none."""
        raise RuntimeError(f"Error copying tensor to device: GPU:{gpu_index}. GPU:{gpu_index} unknown device.")

    def _copy_to_device(self, device_name: str) -> EagerTensor:
        """The same on a device of this task, by its name."""
        if "GPU" in device_name.upper():
            self.gpu()
        return EagerTensor(self._value, self._dtype)

    def _copy_nograd(self, ctx: Any = None, device_name: str | None = None) -> EagerTensor:
        """A copy that no tape hears of."""
        return self._copy_to_device(device_name or self.device)

    def _copy(self, ctx: Any = None, device_name: str | None = None) -> EagerTensor:
        """A copy, which has this one's gradient."""
        copied = self._copy_nograd(ctx, device_name)
        tapes.record(tapes.CallRecord([self], [copied], lambda grad: [grad]))
        return copied

    # --- text --------------------------------------------------------------------------------

    def _text(self, show: Callable[[Any], str] = _exact) -> str:
        if self._dtype in WITHOUT_ARRAYS:
            return "<unprintable>"
        array = self._array()
        text = show(array if array.ndim else array[()])
        return "\n" + text if "\n" in text else text  # so that columns are below each other

    def __str__(self) -> str:
        return f"tf.Tensor({self._text(_plain)}, shape={self.shape}, dtype={self._dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: id={self._id}, shape={self.shape}, dtype={self._dtype.name}, numpy={self._text()}>"
