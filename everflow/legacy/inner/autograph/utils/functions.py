"""tensorflow.python.autograph.utils' `misc`, `py_func` and `context_managers`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.functions.python import py_func
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def alias_tensors(*args: Any) -> Any:
    """The arguments, with an `identity` behind each tensor: what control dependencies hold from here on."""
    if not args:
        raise ValueError("alias_tensors needs an argument")
    made = [array.identity(arg) if isinstance(arg, Tensor) else arg for arg in args]
    return made[0] if len(made) == 1 else tuple(made)


def capitalize_initial(s: str) -> str:
    """A word with a capital at its beginning."""
    return s[:1].upper() + s[1:]


def get_range_len(start: Any, limit: Any, delta: Any) -> Tensor:
    """How many numbers a range has."""
    distance = math.subtract(limit, start)
    over = math.cast(math.not_equal(math.floormod(distance, delta), math.cast(0, distance.dtype)), distance.dtype)
    return math.maximum(math.floordiv(distance, delta) + over, math.cast(0, distance.dtype))


def control_dependency_on_returns(return_value: Any) -> contextlib.AbstractContextManager:
    """A context whose operations wait for the tensors of a result."""
    if return_value is None:
        return contextlib.nullcontext()
    values = return_value if isinstance(return_value, (list, tuple)) else (return_value,)
    return control_dependencies([value.flow if isinstance(value, TensorArray) else value for value in values])


class MatchDType(NamedTuple):
    """Says that a result has the type of an argument."""

    arg_number: int


def wrap_py_func(
    f: Callable,
    return_dtypes: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    use_dummy_return: bool = False,
) -> Any:
    """A call of a Python function when the graph runs. Tensors among the arguments become arrays then; what is none of
    them the function gets as it is. With `use_dummy_return` it gives nothing, and the graph a 1.
    """
    if return_dtypes is not None and use_dummy_return:
        raise ValueError("A function whose result nobody wants can't have types of results")
    positional, named = tuple(args), dict(kwargs or {})
    tensors = [value for value in (*positional, *named.values()) if isinstance(value, Tensor)]

    def wanted(dtype: Any) -> Any:
        if not isinstance(dtype, MatchDType):
            return dtype
        if not isinstance(positional[dtype.arg_number], Tensor):
            raise ValueError(f"Argument {dtype.arg_number} is no tensor, so no result can be of its type")
        return positional[dtype.arg_number].dtype

    def call(*arrays: Any) -> Any:
        given = iter(arrays)
        filled = [next(given) if isinstance(value, Tensor) else value for value in positional]
        result = f(*filled, **{k: next(given) if isinstance(v, Tensor) else v for k, v in named.items()})
        return 1 if use_dummy_return else result

    if use_dummy_return:
        kinds: Any = dtypes.int64
    elif isinstance(return_dtypes, (list, tuple)) and not isinstance(return_dtypes, MatchDType):
        kinds = type(return_dtypes)(map(wanted, return_dtypes))
    else:
        kinds = wanted(return_dtypes)
    return py_func(call, tensors, kinds)
