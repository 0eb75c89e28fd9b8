"""Why a Python value can't become a tensor when executing eagerly: the exception to raise, of TensorFlow's kinds."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, nest

_SHORT = {"float32": "float", "float64": "double", "float16": "half"}
_KNOWN = (bool, int, float, complex, str, bytes, np.generic, np.ndarray)


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
    if isinstance(error, TypeError) and dtype is not None:
        name = dtypes.as_dtype(dtype).name
        return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {_SHORT.get(name, name)}: {error}")
    if any(isinstance(leaf, int) and not -(2**63) <= leaf < 2**63 for leaf in leaves):
        return ValueError(f"A Python sequence with out-of-range integer can't become a tensor: {text}")
    if isinstance(error, ValueError):
        return ValueError(f"A non-rectangular Python sequence can't become a tensor: {text}")
    return error if is_one_kind else ValueError(f"A Python sequence with mixed types can't become a tensor: {text}")
