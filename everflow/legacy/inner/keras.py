"""Names that programs take from inside TensorFlow's `keras.utils` and `keras.engine`."""

from __future__ import annotations

import base64
import marshal
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import executing_eagerly
from everflow.keras.engine.base_layer import snake_case as to_snake_case
from everflow.keras.engine.symbolic_types import REGISTERED as _user_convertible_tensor_types
from everflow.keras.engine.symbolic_types import is_of_a_graph, register_symbolic_tensor_type
from everflow.keras.saving.json_data import default as get_json_type
from everflow.keras.utils import for_layers
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.variables.variable import Variable

__all__ = [
    "func_dump",
    "func_load",
    "get_json_type",
    "get_reachable_from_inputs",
    "is_symbolic_tensor",
    "register_symbolic_tensor_type",
    "_user_convertible_tensor_types",
    "to_snake_case",
]


def func_dump(func: Callable) -> tuple[str, tuple | None, tuple | None]:
    """(code as text, defaults, what it closes over) of a function, for `func_load` in the same version of Python."""
    code = base64.encodebytes(marshal.dumps(func.__code__)).decode("ascii")
    return code, func.__defaults__, tuple(cell.cell_contents for cell in func.__closure__ or ()) or None


def func_load(
    code: str | Sequence,
    defaults: tuple | None = None,
    closure: tuple | None = None,
    globs: dict[str, Any] | None = None,
) -> Callable:
    """The function that `func_dump` wrote down; whoever gives the text decides what runs here."""
    if not isinstance(code, str):
        code, defaults, closure = code
    cells = None if closure is None else tuple(types.CellType(value) for value in closure)
    made = marshal.loads(base64.decodebytes(code.encode("ascii")))
    return types.FunctionType(
        made, globals() if globs is None else globs, made.co_name, None if defaults is None else tuple(defaults), cells
    )


def get_reachable_from_inputs(inputs: Sequence, targets: Sequence | None = None) -> set:
    """Every tensor and operation that some tensors, operations or variables lead to; no further than all of `targets`."""
    reached = set(inputs)
    missing = set(targets) - reached if targets is not None else None
    waiting = deque(inputs)
    while waiting:
        following = _following(waiting.popleft())
        waiting.extend(thing for thing in following if thing not in reached)
        reached.update(following)
        if missing is not None:
            missing -= reached
            if not missing:
                break
    return reached


def _following(thing: Any) -> list:
    if isinstance(thing, Operation):
        return list(thing.outputs)
    if isinstance(thing, Variable):
        return [getattr(thing, "handle", None) if hasattr(thing, "handle") else thing.op.outputs[0], thing.op]
    if isinstance(thing, Tensor):
        return list(thing.consumers())
    raise TypeError(f"Tensors, operations and variables lead somewhere; {thing!r} is a {type(thing).__name__}")


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether something belongs to a graph rather than holding a value."""
    if isinstance(tensor, Variable):
        return not executing_eagerly()
    if isinstance(tensor, (SparseTensor, RaggedTensor)):
        return any(map(for_layers.is_symbolic_tensor, nest.flatten(tensor, expand_composites=True)))
    return is_of_a_graph(tensor)
