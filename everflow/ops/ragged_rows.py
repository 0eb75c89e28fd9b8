"""How functions of tensors come to take ragged ones: applied to their values, or through a form of their own in `ops/ragged`."""

from __future__ import annotations

import functools

from everflow.framework.composites import CompositeTensor


def _is_given_ragged(args, kwargs) -> bool:
    return any(isinstance(a, CompositeTensor) for a in args) or any(isinstance(a, CompositeTensor) for a in kwargs.values())


def takes_ragged(operands: int = 1):
    """Let the first `operands` arguments of an element-wise function be ragged tensors: it is applied to their values, row by row."""

    def decorate(function):
        @functools.wraps(function)
        def build(*args, **kwargs):
            if not _is_given_ragged(args, kwargs):
                return function(*args, **kwargs)
            from everflow.ops.ragged.operators import elementwise

            return elementwise(function, args[:operands], args[operands:], kwargs)

        return build

    return decorate


def has_ragged_form(function):
    """Leave ragged arguments to the function of the same name in `ops/ragged/places.py`."""

    @functools.wraps(function)
    def build(*args, **kwargs):
        if not _is_given_ragged(args, kwargs):
            return function(*args, **kwargs)
        from everflow.ops.ragged import places

        return getattr(places, function.__name__)(*args, **kwargs)

    return build
