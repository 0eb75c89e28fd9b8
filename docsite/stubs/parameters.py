"""Parameters of functions as stubs write them: with the types that annotations give, else those that the name and the
default of a parameter stand for all over TensorFlow's API.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from docsite.stubs.types_of import ANY, alternatives, of_annotation, union

_FUNCTION = "Callable[..., Any] | None"
# Names that mean the same wherever they are.
_NAMES = {
    "name": "str",
    "scope": "str | <VariableScope>",
    "dtype": "DTypeLike",
    "out_type": "DTypeLike",
    "output_type": "DTypeLike",
    "key_dtype": "DTypeLike",
    "value_dtype": "DTypeLike",
    "shape": "ShapeLike",
    "axis": "AxisLike",
    "seed": "TensorLike | None",
    "graph": "<Graph>",
    "units": "SizeLike",
    "num_units": "SizeLike | Sequence[Any]",
    "num_outputs": "SizeLike | None",
    "depth": "ScalarLike",
    "kernel_size": "SizeLike | Sequence[Any]",
    "pool_size": "SizeLike | Sequence[Any]",
    "dilation_rate": "SizeLike | Sequence[Any]",
    "learning_rate": "ScalarLike | Callable[..., Any]",
    "model_dir": "PathLike",
    "logdir": "PathLike",
    "global_step": "TensorLike",
    "keepdims": "bool",
    "keep_dims": "bool",
    "collections": "Iterable[Any]",
    "cell": "<nn.rnn_cell.RNNCell> | <keras.layers.Layer>",
    "sp_input": "<SparseTensor>",
    "shared_name": "str",
    "data_format": "str",
    "message": "str",
    "features": "TensorLike | Mapping[Any, Any]",
}
# Names that are tensors where functions take them; classes and methods call other things so, too.
_TENSORS = frozenset(
    """
    a b x y input tensor input_tensor logits image images contents bytes segment_ids indices params ref updates
    input_string string_tensor multiples begin
    """.split()
)
# Names whose default is a bool, a number or text, but that take other things as well.
_OPEN = re.compile(
    r"(.*_)?(initializer|regularizer|constraint|activation|optimizer|loss|metrics|training|weights|value|init|padding|label"
    r"|keep_input|feed_previous|is_training|depth|scale|center|strides|stride|size|rate|reuse|mode|verbose|by_name|dropout|partial_run|enabled"
    r"|data|target|path|cache|steps|begin|start|limit|delta)"
)


def of_parameter(parameter: inspect.Parameter, function: Callable, is_function: bool) -> str:
    """The type that a parameter is written with."""
    is_function = is_function and not function.__name__.endswith("_fn")
    found = of_annotation(parameter.annotation, function)
    if found == ANY and parameter.annotation is inspect.Parameter.empty:
        found = _by_name(parameter, is_function)
    if parameter.default is None and found != ANY and "None" not in alternatives(found):
        found = union([*alternatives(found), "None"])
    return found


def _by_name(parameter: inspect.Parameter, is_function: bool) -> str:
    name, default = parameter.name, parameter.default
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
        return ANY
    if name in _NAMES:
        text = _NAMES[name]
        return f"{text} | None" if isinstance(default, str) else text
    if is_function and name in _TENSORS and default is not None:
        return "TensorLike"
    if name.endswith("_fn") and name != "loss_fn":
        return _FUNCTION
    if name.endswith("_dtype"):
        return "DTypeLike"
    return ANY if _OPEN.fullmatch(name) else _by_default(default)


def _by_default(default: Any) -> str:
    if isinstance(default, bool):
        return "bool"
    if isinstance(default, int | float):
        return "ScalarLike | None"
    return "str | None" if isinstance(default, str) else ANY


def default_text(default: Any) -> str:
    """A default as the stub shows it: short values as they are, others as `...`."""
    if default is None or isinstance(default, bool | int | str | bytes) and len(repr(default)) < 40:
        return repr(default)
    if isinstance(default, float) and default == default and abs(default) != float("inf"):
        return repr(default)
    return "..."


def signature_of(function: Callable) -> inspect.Signature:
    """A signature; anything is taken where Python knows none."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        either = [
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ]
        return inspect.Signature(either)


def written(
    signature: inspect.Signature,
    function: Callable,
    render: Callable[[str], str],
    is_function: bool,
    skip: int = 0,
    first: str = "",
) -> str:
    """The parameters between the parentheses of a `def`, without the first `skip`, after `first`."""
    parts = [first] if first else []
    stage = inspect.Parameter.POSITIONAL_ONLY
    for parameter in list(signature.parameters.values())[skip:]:
        kind = parameter.kind
        if stage == inspect.Parameter.POSITIONAL_ONLY and kind != stage and len(parts) > bool(first):
            parts.append("/")
        if kind == parameter.KEYWORD_ONLY and stage < parameter.VAR_POSITIONAL:
            parts.append("*")
        stage = kind
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        text = f"{stars}{parameter.name}: {render(of_parameter(parameter, function, is_function))}"
        if parameter.default is not parameter.empty:
            text += f" = {default_text(parameter.default)}"
        parts.append(text)
    return ", ".join(parts)
