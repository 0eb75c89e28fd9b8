"""tf.raw_ops: a function for every op type, `tf.raw_ops.MatMul(a=x, b=y)`. Arguments are given by name."""

from __future__ import annotations

import functools
import inspect

from everflow.framework import op_defs, raw_ops

# Arguments whose public name differs from the one in the op's definition.
_AXIS = {"reduction_indices": "axis"}
RENAMED = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXIS),
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}


@functools.cache
def function(op_type: str, positional: bool = False):
    """The build function of an op type under its public argument names."""
    build = getattr(raw_ops, op_type)
    public = RENAMED.get(op_type, {})
    original = {new: old for old, new in public.items()}
    parameters = [p.replace(name=public.get(p.name, p.name)) for p in inspect.signature(build).parameters.values()]
    signature = inspect.Signature(parameters)

    def call(*args, **kwargs):
        if args and not positional:
            raise TypeError(f"{op_type} only takes keyword args (possible keys: {list(signature.parameters)})")
        given = signature.bind_partial(*args, **kwargs).arguments
        return build(**{original.get(name, name): value for name, value in given.items()})

    call.__name__ = call.__qualname__ = op_type
    call.__doc__ = build.__doc__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def __getattr__(name: str):
    if op_defs.find(name) is None:
        raise AttributeError(f"There is no op type {name!r}")
    return function(name)


def __dir__():
    return sorted(op_defs.names())
