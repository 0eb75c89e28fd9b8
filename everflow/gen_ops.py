"""TensorFlow's generated op functions, `gen_math_ops.mat_mul(a, b)`: raw ops under snake-case names with positional attributes."""

from __future__ import annotations

import functools
import re

from everflow.framework import op_defs, raw_ops


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


@functools.cache
def _function(op_type: str):
    op_def = op_defs.get(op_type)
    inferred = {a for arg in op_def.inputs for a in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    attrs = sorted((a for a in op_def.attrs if a.name not in inferred), key=lambda a: a.has_default)
    parameters = [arg.name for arg in op_def.inputs] + [a.name for a in attrs] + ["name"]
    build = getattr(raw_ops, op_type)

    def function(*args, **kwargs):
        if len(args) > len(parameters):
            raise TypeError(f"{function.__name__}() takes {len(parameters)} arguments but {len(args)} were given")
        return build(**dict(zip(parameters, args, strict=False)), **kwargs)

    function.__name__ = snake_case(op_type)
    function.__doc__ = f"Makes a {op_type} node: {', '.join(parameters)}."
    return function


def __getattr__(name: str):
    op_type = _op_types().get(name.removeprefix("_")) if not name.startswith("__") else None
    if op_type is None:
        raise AttributeError(f"no op function {name!r}")
    return _function(op_type)


def __dir__():
    return sorted(_op_types())
