"""Types of layers as TensorFlow 2 has them, where a program asks for it: a layer is of the default type and not of its
first input's, and casts inputs that are floats to its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.eager import version_mark
from everflow.framework import dtypes, nest
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.ops.math.elementwise import cast
from everflow.ops.ragged.tensor import RaggedTensor

_enabled: bool | None = None  # None: as the program is one for TensorFlow 2 or not
# The policy of layers that are given no type, where it has their variables cast; mixed_precision/policy.py sets it.
default_policy = None


_policy_of: Callable | None = None


def register_policies(policy_of: Callable) -> None:
    """`policy_of(policy, compute dtype, dtype)` as below; mixed_precision/policy.py, which has policies, gives it."""
    global _policy_of
    _policy_of = policy_of


def policy_of(policy: Any, computes_in: str | None, dtype: str | None) -> Any:
    """The policy of a layer: the one that it was given, or what its types amount to."""
    return policy if _policy_of is None else _policy_of(policy, computes_in, dtype)


def v2_dtype_behavior_enabled() -> bool:
    """Whether layers that are made now have types as in TensorFlow 2."""
    return version_mark.enabled() if _enabled is None else _enabled


def switch(enabled: bool | None) -> bool | None:
    """Whether layers that are made from now on have types as in TensorFlow 2; gives what was said before."""
    global _enabled
    before, _enabled = _enabled, enabled
    return before


def enable_v2_dtype_behavior() -> None:
    """Let layers be of the default type, and cast their inputs."""
    switch(True)


def disable_v2_dtype_behavior() -> None:
    """Let layers be of the type that their first input has."""
    switch(False)


def cast_inputs(inputs, dtype: str, tell: Callable[[str], None] | None = None):
    """Inputs of a layer, those that are floats in its own type where that is one of floats; `tell` is called with the
    type of one that wasn't.
    """
    wanted = dtypes.as_dtype(dtype)
    if not wanted.is_floating:
        return inputs

    def one(x):
        is_tensor = isinstance(x, (Tensor, SparseTensor, RaggedTensor))
        if not is_tensor or not x.dtype.is_floating or x.dtype.base_dtype == wanted:
            return x
        if tell is not None:
            tell(x.dtype.base_dtype.name)
        return cast(x, wanted)

    return nest.map_structure(one, inputs)
