"""Names that programs take from inside TensorFlow's `eager.backprop`: what tapes remember, and functions that give
products with derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.contrib.eager.differentiation import argument_positions, returned
from everflow.framework import attributes, dtypes, nest, op_defs, tapes
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Tensor
from everflow.framework.registry import find_gradient
from everflow.framework.shapes import TensorShape
from everflow.legacy.inner.eager.tape import VSpace
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.sparse import indexed_slices
from everflow.ops.variables.resource import is_resource_variable

__all__ = [
    "_MockOp",
    "_aggregate_grads",
    "_default_vspace",
    "_get_arg_spec",
    "_ensure_unique_tensor_objects",
    "_fast_fill",
    "_gradient_function",
    "_handle_or_self",
    "_num_elements",
    "_ones",
    "_record_gradient",
    "_zeros",
    "aggregate_indexed_slices_gradients",
    "flatten_nested_indexed_slices",
    "make_attr",
    "make_vjp",
    "op_attr_type",
]
# Kinds of attributes by the numbers that TensorFlow's C interface has for them.
_KINDS = {"string": 0, "int": 1, "float": 2, "bool": 3, "type": 4, "shape": 5, "tensor": 6, "func": 8}
_TYPE, _SHAPE = _KINDS["type"], _KINDS["shape"]


def op_attr_type(op_type: str, attr_name: str) -> int | list[int]:
    """The number of the kind of an attribute; for a list, that of its elements in a list."""
    found = next((attr.type for attr in op_defs.get(op_type).attrs if attr.name == attr_name), None)
    if found is None:
        raise InvalidArgumentError(None, None, f"{op_type} has no attribute {attr_name!r}")
    kind = _KINDS[found.removeprefix("list(").removesuffix(")")]
    return [kind] if found.startswith("list(") else kind


def make_attr(attr_type: int | list[int], value: Any) -> Any:
    """An attribute's value from a type's number or a shape's sizes: a DType, a TensorShapeProto, lists of these."""
    if isinstance(attr_type, list):
        return [make_attr(attr_type[0], each) for each in value]
    if attr_type == _TYPE:
        return dtypes.as_dtype(value)
    return TensorShape(value).as_proto() if attr_type == _SHAPE else value


class _MockOp:
    """What a gradient function asks of an op: its type, attributes and tensors."""

    def __init__(
        self,
        attrs: Sequence[Any],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        typ: str,
        skip_input_indices: Sequence[int] = (),
    ) -> None:
        self.inputs, self.outputs, self.type = inputs, outputs, typ
        self.name, self.skip_input_indices = typ, skip_input_indices
        given = dict(zip(attrs[::2], attrs[1::2], strict=True))
        self.attrs = {name: make_attr(op_attr_type(typ, name), value) for name, value in given.items()}
        self._gradient_function = None

    def get_attr(self, attr: str) -> Any:
        """The value of an attribute."""
        if attr not in self.attrs:
            raise KeyError(f"{self.type} was recorded without the attribute {attr!r}")
        return attributes.as_user_sees(self.attrs[attr])

    def _get_control_flow_context(self) -> Any:
        raise NotImplementedError("There are no contexts of control flow when executing eagerly")


def _gradient_function(
    op_name: str,
    attr_tuple: Sequence[Any],
    num_inputs: int,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_grads: Sequence[Any],
    skip_input_indices: Sequence[int],
) -> Any:
    """What the gradient function of an op type gives for an op that ran; None for each input where it has none.

    Args:
        op_name: The op type.
        attr_tuple: Its attributes as names and values in turn, types as numbers.
        num_inputs: How many tensors it took.
        inputs: These tensors.
        outputs: What it gave.
        out_grads: The gradients of what it gave.
        skip_input_indices: Inputs whose gradients nobody asks for.

    Returns:
        The gradients of its inputs.
    """
    differentiate = find_gradient(op_name)
    if differentiate is None:
        return [None] * num_inputs
    return differentiate(_MockOp(attr_tuple, inputs, outputs, op_name, skip_input_indices), *out_grads)


def _record_gradient(
    op_name: str, inputs: Sequence[Tensor], attrs: Sequence[Any], results: Sequence[Tensor], name: str | None = None
) -> None:
    """Tell the tapes that listen of an op that ran: its type, tensors, and attributes as names and values in turn."""

    def gradient(*grads: Any) -> Any:
        return _gradient_function(op_name, attrs or (), len(inputs), list(inputs), list(results), grads, ())

    tapes.record(tapes.CallRecord(list(inputs), list(results), gradient))


def make_vjp(f: Callable, params: Sequence[Any] | None = None, persistent: bool = True) -> Callable:
    """A function that gives `f`'s result, and a function from gradients of it to those of the arguments that `params`
    names, all by default.
    """

    def decorated(*args: Any, **kwargs: Any) -> tuple[Any, Callable]:
        if kwargs:
            raise ValueError(f"Pass arguments by position, not by keyword, to be differentiated: {sorted(kwargs)}")
        positions = argument_positions(f, params, args)
        given = list(args)
        with GradientTape(persistent=persistent) as tape:
            for position in positions:
                given[position] = array.identity(convert_to_tensor(given[position]))
                tape.watch(given[position])
            result = returned(f, given, {})
        sources = [given[position] for position in positions]

        def vjp(dy: Any = None) -> list[Any]:
            if dy is not None:
                dy = [convert_to_tensor(each) for each in nest.flatten(dy)]
            return tape.gradient(nest.flatten(result), sources, output_gradients=dy)

        return result, vjp

    return decorated


def _aggregate_grads(gradients: Sequence[Any]) -> Any:
    """The sum of gradients, tensors or slices."""
    if len(gradients) == 1:
        return gradients[0]
    if all(isinstance(each, Tensor) for each in gradients):
        return indexed_slices.add_n(gradients)
    return aggregate_indexed_slices_gradients(gradients)


def aggregate_indexed_slices_gradients(grads: Sequence[Any]) -> IndexedSlices | None:
    """The sum of gradients of which some are slices, as slices of all."""
    found = [each for each in grads if each is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else indexed_slices.total(found)


def flatten_nested_indexed_slices(grad: IndexedSlices) -> IndexedSlices:
    """Slices whose values are slices themselves, as slices of tensors."""
    if not isinstance(grad.values, IndexedSlices):
        return grad
    inner = flatten_nested_indexed_slices(grad.values)
    return IndexedSlices(inner.values, array.gather(grad.indices, inner.indices), inner.dense_shape)


def _num_elements(grad: Any) -> int:
    """How many entries a gradient has."""
    if isinstance(grad, Tensor):
        return grad.shape.num_elements()
    if isinstance(grad, IndexedSlices):
        return grad.values.shape.num_elements()
    raise ValueError(f"A gradient is a tensor or IndexedSlices, not {grad!r}")


def _ensure_unique_tensor_objects(parameter_positions: Sequence[int], args: Sequence[Any]) -> list[Any]:
    """Arguments, with a tensor that is given twice as another one the second time."""
    seen: set[int] = set()
    made = []
    for place, arg in enumerate(args):
        if place in parameter_positions:
            if id(arg) in seen:
                arg = array.identity(convert_to_tensor(arg))
            seen.add(id(arg))
        made.append(arg)
    return made


def _get_arg_spec(f: Callable, params: Sequence[Any] | None, param_args: Sequence[Any]) -> Sequence[int]:
    """The places of the arguments that `params` names, all by default."""
    if params is None:
        return range(len(param_args))
    return argument_positions(f, params, param_args)


def _handle_or_self(x: Any) -> Any:
    """The handle of a resource variable, and anything else itself."""
    return x.handle if is_resource_variable(x) else x


def _fast_fill(value: Any, shape: Sequence[int], dtype: dtypes.DType) -> Tensor:
    """A tensor of one value."""
    return array.fill(shape, constant(value, dtype=dtype))


def _zeros(shape: Sequence[int], dtype: dtypes.DType) -> Tensor | None:
    """A gradient of zeros; None for strings and resources, which have none."""
    return None if dtypes.as_dtype(dtype) in _WITHOUT_GRADIENTS else array.zeros(shape, dtype)


def _ones(shape: Sequence[int], dtype: dtypes.DType) -> Tensor | None:
    """A gradient of ones; None for strings and resources."""
    return None if dtypes.as_dtype(dtype) in _WITHOUT_GRADIENTS else array.ones(shape, dtype)


_WITHOUT_GRADIENTS = (dtypes.string, dtypes.resource)
_default_vspace = VSpace(
    aggregate_fn=_aggregate_grads,
    num_elements_fn=_num_elements,
    zeros_fn=_zeros,
    ones_fn=_ones,
    graph_shape_fn=array.shape,
)
