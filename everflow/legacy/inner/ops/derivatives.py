"""Names that programs take from inside TensorFlow's modules of gradients: products with second derivatives, variables
behind a result, the derivative of a function as an op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.registry import find_gradient
from everflow.framework.scopes import get_default_graph
from everflow.ops import array, math
from everflow.ops.gradients.hessians import hessians
from everflow.ops.gradients.reverse import gradients
from everflow.ops.gradients.reverse import is_trainable as IsTrainable
from everflow.ops.variables.variable import global_variables

__all__ = [
    "Gradient",
    "HessiansV2",
    "IsTrainable",
    "VAR_OP_TYPES",
    "_hessian_vector_product",
    "add_leading_unit_dimensions",
    "copy_handle_data",
    "get_dependent_variables",
    "get_variable_by_name",
]

VAR_OP_TYPES = ["VariableV2", "VarHandleOp"]


def _hessian_vector_product(ys: Any, xs: Sequence[Tensor], v: Sequence[Tensor]) -> list[Tensor | None]:
    """The matrix of second derivatives of `ys` with respect to `xs`, times vectors: one for each x."""
    if len(v) != len(xs):
        raise ValueError(f"There must be a vector for each of {len(xs)} xs, not {len(v)}")
    products = [
        math.multiply(gradient, array.stop_gradient(each))
        for gradient, each in zip(gradients(ys, xs), v, strict=True)
        if gradient is not None
    ]
    return gradients(products, xs)


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """The trainable variables that results depend on by derivatives, other than by way of the inputs."""
    stop, known = {t.op for t in nest.flatten(input_ops)}, {}
    for variable in get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES):
        known[variable.op] = variable
    seen, waiting = set(stop), [t.op for t in nest.flatten(output_ops)]
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            waiting += [t.op for t in op.inputs] if _differentiable(op) else []
    return [variable for op, variable in known.items() if op in seen - stop]


def _differentiable(op: Any) -> bool:
    try:
        return find_gradient(op.type) is not None
    except LookupError:
        return False


def add_leading_unit_dimensions(x: Any, num_dimensions: Any) -> Tensor:
    """A tensor with so many axes of size 1 more in front."""
    sizes = array.concat([array.ones([num_dimensions], dtype=dtypes.int32), array.shape(x)], axis=0)
    return array.reshape(convert_to_tensor(x), sizes)


def Gradient(inputs: Sequence[Any], f: Any, name: str | None = None) -> list[Tensor]:
    """The derivative of a `Defun` as one op: `inputs` are its arguments, then the gradients of its results."""
    f.add_to_graph(get_default_graph())
    types = [arg.type for arg in f.op_definition.inputs]
    return raw.SymbolicGradient(input=list(inputs), Tout=types, f=f, name=name)


def copy_handle_data(source_t: Tensor, target_t: Tensor) -> None:
    """Let one handle say what another does of the variable behind it."""
    target_t._handle_data = source_t._handle_data


def get_variable_by_name(var_name: str) -> Any:
    """The variable of that name, without the number of its output; ValueError where there is none, or several."""
    found = [v for v in global_variables() if v.op.name == var_name]
    if len(found) != 1:
        raise ValueError(f"{len(found)} variables are called {var_name}, where one is wanted")
    return found[0]


def HessiansV2(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str = "hessians"
) -> list[Tensor]:
    """`tf.hessians`, as version 2 has it: always beside the ops."""
    return hessians(ys, xs, name, True, gate_gradients, aggregation_method)
