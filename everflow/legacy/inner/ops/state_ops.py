"""tensorflow.python.ops.state_ops: variables' nodes by themselves, without the objects that stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import colocate_with, init_scope, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops.variables.assign import assign

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike, ShapeLike
    from everflow.framework.operation import Tensor

__all__ = ["init_variable", "variable_op", "variable_op_v2"]


def variable_op(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """A `Variable` node, of the first kind; without `set_shape`, values of any shape can be assigned to it."""
    shape = shape if set_shape else TensorShape(None)
    return raw.Variable(shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)


def variable_op_v2(
    shape: ShapeLike, dtype: DTypeLike, name: str = "Variable", container: str = "", shared_name: str = ""
) -> Tensor:
    """A `VariableV2` node."""
    return raw.VariableV2(shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)


def init_variable(v: Tensor, init: Any, name: str = "init") -> Tensor:
    """What gives a variable its first value: a tensor, or a function of its shape and type."""
    with init_scope():
        with name_scope(f"{v.op.name}/"), name_scope(f"{name}/"), colocate_with(v.op):
            value = init(v.shape, v.dtype.base_dtype) if callable(init) else convert_to_tensor(init, name="init")
        return assign(v, value, name=f"{v.op.name}/{name}/")
