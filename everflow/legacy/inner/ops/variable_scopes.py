"""Names of `tensorflow.python.ops.variable_scope` that hold what scopes and stores are inside, and how variables are cut
into parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from everflow.ops.variables.scope import _SCOPES_KEY as _VARSCOPESTORE_KEY
from everflow.ops.variables.scope import _scopes as get_variable_scope_store
from everflow.ops.variables.scope import _ScopesOfGraph as _VariableScopeStore
from everflow.ops.variables.store import _STORE_KEY as _VARSTORE_KEY
from everflow.ops.variables.store import VariableStore as _VariableStore
from everflow.ops.variables.store import _parts_of
from everflow.ops.variables.store import default_store as with_variable_store
from everflow.ops.variables.variable import (
    disable_resource_variables,
    enable_resource_variables,
    resource_variables_enabled,
)

__all__ = [
    "_VARSCOPESTORE_KEY",
    "_VARSTORE_KEY",
    "_VariableScopeStore",
    "_VariableStore",
    "_get_slice_dim_and_num_slices",
    "_iter_slices",
    "get_variable_scope_store",
    "with_variable_store",
]


def _get_slice_dim_and_num_slices(slicing: Sequence[int]) -> tuple[int, int]:
    """The axis along which a variable is cut, and how many parts there are; the first axis where it stays whole."""
    return next(((axis, parts) for axis, parts in enumerate(slicing) if parts > 1), (0, 1))


def _iter_slices(full_shape: Sequence[int], num_slices: int, slice_dim: int) -> Iterator[tuple[Any, Any]]:
    """(offset, shape) of each part of a variable."""
    return _parts_of(list(full_shape), slice_dim, num_slices)


def __getattr__(name: str) -> Any:
    if name == "_DEFAULT_USE_RESOURCE":  # Asked anew each time, as programs switch it.
        return resource_variables_enabled()
    raise AttributeError(name)


def _use_resources(state: bool) -> None:
    (enable_resource_variables if state else disable_resource_variables)()


# What programs switch by giving the name another value.
SETTERS = {"_DEFAULT_USE_RESOURCE": _use_resources}
