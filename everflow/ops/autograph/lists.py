"""Lists in converted functions, for `Feature.LISTS`: one that begins empty is a list of tensors of the graph, so that
loops can carry it.

The source is rewritten so that what changes a list gives it a new value: `l.append(x)` becomes `l = ag__.list_append(l,
x)`. The type of elements, which `set_element_type` tells, is known by the variable's name.
"""

from __future__ import annotations

import ast

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond
from everflow.ops.tensor_arrays.tensor_array import TensorArray

# --- the source ----------------------------------------------------------------------------------


def with_list_values(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The function with what it does to lists written as assignments."""
    typed = {_list_of(node) for node in ast.walk(definition) if _tells_type(node)}
    rewriter = _Lists(typed)
    definition.body = [rewriter.visit(statement) for statement in definition.body]
    return ast.fix_missing_locations(definition)


def _called(node):
    """The last name of what a call calls."""
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


def _tells_type(node):
    return _called(node) == "set_element_type" and len(node.args) > 1 and isinstance(node.args[0], ast.Name)


def _list_of(call):
    return call.args[0].id


def _ag(name, *arguments):
    return ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load()), list(arguments), [])


def _load(node):
    return ast.Name(node.id, ast.Load())


def _store(node):
    return ast.Name(node.id, ast.Store())


class _Lists(ast.NodeTransformer):
    def __init__(self, typed):
        self._typed = typed

    def _type_of(self, node):
        """The expression for the type and shape of a list's elements."""
        known = isinstance(node, ast.Name) and node.id in self._typed
        return ast.Name(f"ag__type_of_{node.id}", ast.Load()) if known else ast.Constant(None)

    def visit_Expr(self, node):
        self.generic_visit(node)
        call = node.value
        if _tells_type(call):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            shape = call.args[2] if len(call.args) > 2 else given.get("shape", ast.Constant(None))
            kind = ast.Tuple([call.args[1], shape], ast.Load())
            return ast.copy_location(ast.Assign([ast.Name(f"ag__type_of_{_list_of(call)}", ast.Store())], kind), node)
        if self._on_a_variable(call, "append", 1):
            held = call.func.value
            return ast.copy_location(ast.Assign([_store(held)], _ag("list_append", _load(held), call.args[0])), node)
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and self._on_a_variable(node.value, "pop", 0):
            held = node.value.func.value
            both = ast.Tuple([_store(held), target], ast.Store())
            return ast.copy_location(ast.Assign([both], _ag("list_pop", _load(held), self._type_of(held))), node)
        if (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and not isinstance(target.slice, (ast.Slice, ast.Tuple))
        ):
            changed = _ag("list_set_item", _load(target.value), target.slice, node.value)
            return ast.copy_location(ast.Assign([_store(target.value)], changed), node)
        return node

    @staticmethod
    def _on_a_variable(call, method, arguments):
        """Whether an expression calls a method of a plain variable."""
        return (
            _called(call) == method
            and isinstance(getattr(call.func, "value", None), ast.Name)
            and len(call.args) == arguments
        )

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return node
        return ast.copy_location(_ag("list_get_item", node.value, node.slice, self._type_of(node.value)), node)

    def visit_List(self, node):
        self.generic_visit(node)
        return ast.copy_location(_ag("new_list", node), node) if isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node):
        self.generic_visit(node)
        if (
            _called(node) == "stack"
            and node.args
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id in self._typed
        ):
            node.func, node.args = _ag("stack_of", node.func, self._type_of(node.args[0])), node.args
        return node


# --- what it calls -------------------------------------------------------------------------------


def _is_list(value):
    return isinstance(value, Tensor) and value.dtype == dtypes.variant


def _known(kind, position, what):
    """The type (first) or shape of a list's elements, as told."""
    if kind is None or kind[position] is None:
        name = ("type", "shape")[position]
        raise ValueError(
            f"cannot {what} a list without knowing its element {name}; use set_element_type to annotate it"
        )
    return kind[position]


def new_list(elements):
    """A list of the graph where there are no elements yet."""
    if elements:
        return elements
    return raw.EmptyTensorList(element_shape=constant(-1), max_num_elements=-1, element_dtype=dtypes.variant)


def list_append(held, value):
    """The list with one element more."""
    if isinstance(held, TensorArray):
        return held.write(held.size(), value)
    if not _is_list(held):
        held.append(value)
        return held
    value = convert_to_tensor(value)
    # The first element tells what the list holds.
    held = cond(
        math.greater(raw.TensorListLength(input_handle=held), 0),
        lambda: held,
        lambda: raw.EmptyTensorList(
            element_shape=array.shape(value), max_num_elements=-1, element_dtype=value.dtype.base_dtype
        ),
    )
    return raw.TensorListPushBack(input_handle=held, tensor=value)


def list_pop(held, kind):
    """(the list without its last element, that element)"""
    if not _is_list(held):
        return held, held.pop()
    dtype, shape = (_known(kind, position, "pop from") for position in (0, 1))
    rest, last = raw.TensorListPopBack(input_handle=held, element_shape=-1, element_dtype=dtype)
    last.set_shape(shape)
    return rest, last


def list_get_item(held, index, kind):
    """An element of a list, a TensorArray, or whatever else has elements."""
    if isinstance(held, TensorArray):
        return held.read(index)
    if not _is_list(held):
        return held[index]
    return raw.TensorListGetItem(
        input_handle=held, index=index, element_shape=-1, element_dtype=_known(kind, 0, "read from")
    )


def list_set_item(held, index, value):
    """A list, a TensorArray or a tensor with another element; other things are changed in place."""
    if isinstance(held, TensorArray):
        return held.write(index, value)
    if _is_list(held):
        return raw.TensorListSetItem(input_handle=held, index=index, item=value)
    if isinstance(held, Tensor):
        return raw.TensorScatterUpdate(tensor=held, indices=[[index]], updates=[value])
    held[index] = value
    return held


def stack_of(function, kind):
    """`stack` of AutoGraph for a list whose elements are of this kind; other functions of that name as they are."""
    if function is not stack:
        return function
    return lambda held, element_dtype=kind[0], strict=True: stack(held, element_dtype, strict)


def stack(list_or_tensor, element_dtype=None, strict=True):
    """The elements of a list as one tensor with a new first dimension; a tensor as it is.

    With `strict=False` what can't be stacked is given back.
    """
    if _is_list(list_or_tensor):
        dtype = _known([element_dtype], 0, "stack")
        return raw.TensorListStack(input_handle=list_or_tensor, element_shape=-1, element_dtype=dtype)
    if isinstance(list_or_tensor, TensorArray):
        return list_or_tensor.stack()
    if strict and not isinstance(list_or_tensor, Tensor):
        raise ValueError(f"{list_or_tensor} must be stackable when strict=True")
    return list_or_tensor


def set_element_type(entity, dtype, shape=None):
    """Tell the type of the elements of a list that is still empty; in converted functions, for `stack`, `pop` and
    reading elements.
    """
    del entity, dtype, shape


OPERATORS = {f.__name__: f for f in (new_list, list_append, list_pop, list_get_item, list_set_item, stack_of)}
