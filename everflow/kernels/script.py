"""The kernel of `py_func`: calls the Python function with numpy arrays and checks what it returns."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.tensor_values import as_bytes_array
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, Value, from_numpy, to_numpy
from everflow.ops.functions import python as script

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Step
    from everflow.ops.functions.python import PyFunction

# What an exception of the function's becomes; any other is an UnknownError.
_BECOMES = [
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (ValueError, errors.InvalidArgumentError),
    (TypeError, errors.InvalidArgumentError),
]


@fresh("PyFunc")
@fresh("PyFuncStateless", effect=Effect.READS)  # whatever it promised, it is Python
def py_func(input: list[Value], *, token: str, Tout: list[DType], node: Node) -> list[AnyTensor]:
    registered = script.registered(token)
    returned = _called(registered, [_argument(value, dtype) for value, dtype in zip(input, node.input_dtypes)])
    values = [] if returned is None else list(returned) if isinstance(returned, (list, tuple)) else [returned]
    if len(values) != len(Tout):
        raise errors.InvalidArgumentError(
            None, None, f"{_name(token)} returns {len(values)} values, but expects to see {len(Tout)} values."
        )
    return [_result(value, dtype, i, _name(token)) for i, (value, dtype) in enumerate(zip(values, Tout))]


@kernel("EagerPyFunc", keeps=(0,), threads_matter_from=0)
def eager_py_func(input: list[Value], *, token: str, Tout: list[DType], node: Node, step: Step) -> list[AnyTensor]:
    # The function was wrapped so that it takes and gives kernel values, and the run's own objects; see
    # `eager/py_function.py`.
    return _called(script.registered(token), [step.container, *zip(input, node.input_dtypes)])


def _called(registered: PyFunction, arguments: list[Any]) -> Any:
    try:
        return registered.function(*arguments)
    except Exception as e:
        raise translated(e) from e


def translated(error: Exception) -> errors.OpError:
    """The error that an op raises for one that the function it calls raised."""
    kind = next((mapped for caught, mapped in _BECOMES if isinstance(error, caught)), errors.UnknownError)
    return kind(None, None, f"{type(error).__name__}: {error}\n{''.join(traceback.format_exception(error))}")


def _argument(value: AnyTensor, dtype: DType) -> Any:
    array = to_numpy(value, dtype)
    # The function may keep or change its arrays, which must not be the graph's.
    return array.copy() if array.ndim else array[()]


def _name(token: str) -> str:
    """What a token of this process is called in messages."""
    return str(token).partition(" of ")[0]


def _result(value: Any, dtype: DType, position: int, name: str) -> AnyTensor:
    array = np.asarray(value)
    if array.dtype.kind == "S" and array is not value:
        array = np.asarray(value, object)  # numpy's own strings lose zero bytes at their end
    if array.dtype == object and not all(isinstance(item, (bytes, str)) for item in array.flat):
        raise errors.InternalError(
            None, None, f"{position}-th value returned by {name} is no array of numbers or strings: {value!r}"
        )
    try:
        found = dtypes.as_dtype(array.dtype)
    except TypeError:
        raise errors.InternalError(None, None, f"Unsupported numpy type {array.dtype} returned by {name}") from None
    if found != dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{position}-th value returned by {name} is {found.name}, but expects {dtype.name}: convert it in the function, or give Tout={found.name}",
        )
    if dtype is dtypes.string:
        return as_bytes_array(array)
    return from_numpy(np.array(array, order="C", copy=True))
