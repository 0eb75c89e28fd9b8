"""`bfloat16_scope`: bfloat16 variables are kept in float32, and cast when they are read."""

from __future__ import annotations

import contextlib

from everflow.framework import dtypes
from everflow.ops import math
from everflow.ops.variables.scope import variable_scope


def _getter(getter, name, *args, **kwargs):
    wanted = kwargs.get("dtype")
    if wanted != dtypes.bfloat16:
        return getter(name, *args, **kwargs)
    return math.cast(getter(name, *args, **{**kwargs, "dtype": dtypes.float32}), dtypes.bfloat16)


@contextlib.contextmanager
def bfloat16_scope():
    """A variable scope whose bfloat16 variables are float32 where they are kept."""
    with variable_scope("", custom_getter=_getter) as scope:
        yield scope
