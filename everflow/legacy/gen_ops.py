"""TensorFlow's generated op functions, `gen_math_ops.mat_mul(a, b)`: the raw ops under snake-case names."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from everflow import raw_ops
from everflow.framework import op_defs


def snake_case(op_type: str) -> str:
    """The function name of an op type.

    >>> snake_case("RGBToHSV"), snake_case("Conv2DBackpropInput"), snake_case("BatchMatMulV2")
    ('rgb_to_hsv', 'conv2d_backprop_input', 'batch_mat_mul_v2')
    """
    words = re.sub(r"([23])D(?=[A-Z]|$)", r"\1d", op_type)
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", words)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()


@functools.cache
def _op_types() -> dict[str, str]:
    return {snake_case(name): name for name in op_defs.names()}


def eager_fallback(op_type: str) -> Callable:
    """The function of an op type that runs it for arguments of any kind: its inputs and attributes, `name` and `ctx`, the
    context.
    """

    def run(*args: Any, name: str | None = None, ctx: Any = None, **kwargs: Any) -> Any:
        del ctx  # there is one
        return raw_ops.function(op_type, positional=True)(*args, name=name, **kwargs)

    return run


def __getattr__(name: str):
    if name.removesuffix("_eager_fallback") in _op_types() and name.endswith("_eager_fallback"):
        return eager_fallback(_op_types()[name.removesuffix("_eager_fallback")])
    if op_defs.find(name) is not None:  # by an op's own name: arguments by keyword
        return raw_ops.function(name)
    # Some were private in earlier versions, and programs still say `gen_nn_ops._max_pool_grad`.
    op_type = _op_types().get(name.removeprefix("_")) if not name.startswith("__") else None
    if op_type is None and op_defs.find(name) is not None:
        op_type = name
    if op_type is None:
        raise AttributeError(f"There is no op function {name!r}")
    return raw_ops.function(op_type, positional=True)


def __dir__():
    return sorted(_op_types())
