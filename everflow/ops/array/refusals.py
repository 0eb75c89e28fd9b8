"""Why a Python value can't become a tensor when executing eagerly: the exception to raise, of TensorFlow's kinds."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, nest

_SHORT = {"float32": "float", "float64": "double", "float16": "half"}
# What may stand with a first leaf of a type: whole numbers and truth values where there are numbers, but no numbers
# where there are truth values.
_KINDS = (
    (str, bytes),
    (bool, np.bool_),
    (int, float, np.integer, np.floating, np.ndarray),
    (complex, np.complexfloating),
)
_ARRAYS = (np.generic, np.ndarray)
_KNOWN = (bool, int, float, complex, str, bytes, *_ARRAYS)


def refused(value, dtype, error, is_one_kind):
    """The exception for a value that `error` refused; `is_one_kind` says whether all in it is of one kind."""
    text = f"{value!r}, of {type(value)}, can't become a tensor: {error}"
    leaves = nest.flatten(value)
    unknown = [leaf for leaf in leaves if not isinstance(leaf, _KNOWN)]
    if isinstance(value, dict) or unknown:
        what = value if isinstance(value, dict) else unknown[0]
        return ValueError(
            f"There is no way to convert a value ({what!r}) with an unsupported type ({type(what)}) to a Tensor."
        )
    if any(isinstance(leaf, int) and not -(2**63) <= leaf < 2**63 for leaf in leaves):
        return ValueError(f"A Python sequence with out-of-range integer can't become a tensor: {text}")
    if isinstance(error, TypeError) and dtype is not None and _is_one_array(value, leaves):
        name = dtypes.as_dtype(dtype).name
        return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {_SHORT.get(name, name)}: {error}")
    if isinstance(error, ValueError) or _shape(value) is None:
        return ValueError(f"A non-rectangular Python sequence can't become a tensor: {text}")
    if is_one_kind and dtype is None and not isinstance(value, _ARRAYS):
        return error
    return ValueError(f"An array, or a Python sequence with mixed types, can't become a tensor: {text}")


def _is_one_array(value, leaves):
    """Whether a Python value is rectangular and of one type, which the first leaf decides: the type asked for is what is
    wrong then.
    """
    if isinstance(value, _ARRAYS) or _shape(value) is None:
        return False
    first = leaves[0] if leaves else 0.0
    taken = next((kinds for kinds in _KINDS if isinstance(first, kinds)), ())
    return all(isinstance(leaf, taken) for leaf in leaves)


def _shape(value):
    """The shape of nested lists, None where it differs from part to part."""
    if not isinstance(value, (list, tuple)):
        return np.shape(value)
    parts = {_shape(part) for part in value}
    if len(parts) > 1 or None in parts:
        return None
    return (len(value), *(parts.pop() if parts else ()))
