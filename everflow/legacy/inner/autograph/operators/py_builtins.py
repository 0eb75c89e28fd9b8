"""tensorflow.python.autograph.operators.py_builtins: functions of Python that know tensors, lists of the graph and
datasets.
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable
from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.ops import math
from everflow.ops.autograph import operators
from everflow.ops.autograph.operators import float_, int_, print_, range_
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def abs_(x: Any) -> Any:
    """`abs`, of tensors too."""
    return math.abs(x) if operators._is_tensor(x) else builtins.abs(x)


def len_(s: Any) -> Any:
    """`len`, of tensors, TensorArrays and lists of the graph too."""
    if isinstance(s, TensorArray):
        return s.size()
    if isinstance(s, Tensor) and s.dtype == dtypes.variant:
        return raw.TensorListLength(input_handle=s)
    if isinstance(s, Tensor) and s.shape.rank == 0:
        raise ValueError(f"len() wants something that has parts, not a scalar: {s}")
    return operators.len_(s)


def enumerate_(s: Any, start: int = 0) -> Any:
    """`enumerate`, of datasets too."""
    return s.enumerate(start=start) if _is_dataset(s) else builtins.enumerate(s, start)


def zip_(*iterables: Any) -> Any:
    """`zip`, of datasets too."""
    if iterables and all(map(_is_dataset, iterables)):
        return type(iterables[0]).zip(iterables)
    return builtins.zip(*iterables)


def _is_dataset(value: Any) -> bool:
    return hasattr(value, "optionals") and hasattr(value, "reduce")


_OVERLOADED: dict[Any, Callable] = {
    builtins.abs: abs_,
    builtins.float: float_,
    builtins.int: int_,
    builtins.len: len_,
    builtins.print: print_,
    builtins.range: range_,
    builtins.enumerate: enumerate_,
    builtins.zip: zip_,
}


def overload_of(f: Any) -> Any:
    """What is called in place of a builtin; any other function itself."""
    return _OVERLOADED.get(f, f) if isinstance(f, (types.BuiltinFunctionType, type)) else f


def eval_in_original_context(f: Callable, args: tuple, caller_fn_scope: Any) -> Any:
    """`eval` and the like, which see the variables of the function that calls them."""
    frame = _frame_of(caller_fn_scope)
    given = [*args, *([frame.f_globals, frame.f_locals][len(args) - 1 :])] if f is builtins.eval else list(args)
    return f(*given[:3])


def super_in_original_context(f: Callable, args: tuple, caller_fn_scope: Any) -> Any:
    """`super`, which without arguments takes the class and the first argument of the method that calls it."""
    if args:
        return f(*args)
    frame = _frame_of(caller_fn_scope)
    if "__class__" not in frame.f_locals:
        raise ValueError("super() without arguments has to be called in a method")
    names = inspect.getargvalues(frame).args
    return f(frame.f_locals["__class__"], frame.f_locals[names[0]])


def _frame_of(scope: Any) -> types.FrameType:
    """The innermost frame that holds the scope of a converted function."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope and frame.f_code.co_filename != __file__:
            return frame
        frame = frame.f_back
    raise ValueError(f"No function with the scope {scope.name!r} is running")
