"""TensorFlow's `python.eager.execute`: an op that runs at once, by its type and attributes, and how arguments become
attributes and tensors.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf import text_format

from everflow.framework import builder, dtypes, op_defs
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError, OpError
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.legacy.inner.eager.backprop import _record_gradient as record_gradient
from everflow.legacy.inner.eager.backprop import make_attr, op_attr_type
from everflow.legacy.inner.eager.core import _FallbackException, _NotOkStatusException
from everflow.ops.array.constants import constant
from everflow.platform import compat
from everflow.protos.tensor_pb2 import TensorProto

__all__ = ["record_gradient"]
# What `TFE_Py_FastPathExecute` is given before the inputs of the op.
_BEFORE_INPUTS = 5


def quick_execute(
    op_name: str | bytes,
    num_outputs: int,
    inputs: Sequence[Any],
    attrs: Sequence[Any] | None,
    ctx: Any,
    name: str | None = None,
) -> list[Tensor]:
    """Run an op.

    Args:
        op_name: its type.
        num_outputs: how many tensors it gives, which follows from its attributes.
        inputs: its tensors, in order.
        attrs: names and values of its attributes in turn, types as numbers.
        ctx: the context, of which there is one.
        name: a name.

    Returns:
        The list of its outputs.
    """
    del ctx
    op_type = op_name.decode() if isinstance(op_name, bytes) else op_name
    if len(attrs or ()) % 2:
        raise InvalidArgumentError(None, None, f"Attributes are names and values in turn, so {attrs} is one short")
    if not all(isinstance(value, Tensor) for value in inputs):
        raise TypeError(f"{op_type} takes tensors here, not {list(inputs)}")
    given = dict(zip((attrs or ())[::2], (attrs or ())[1::2], strict=True))
    try:
        given = {attr: make_attr(op_attr_type(op_type, attr), value) for attr, value in given.items()}
    except TypeError as e:
        raise InvalidArgumentError(None, None, f"Attributes of {op_type} can't be {given}: {e}") from e
    definition = op_defs.get(op_type)
    tensors, missing = iter(inputs), object()
    arguments: dict[str, Any] = {}
    for arg in definition.inputs:
        if arg.number_attr or arg.type_list_attr:
            size = given[arg.number_attr] if arg.number_attr else len(given[arg.type_list_attr])
            arguments[arg.name] = list(itertools.islice(tensors, size))
        else:
            arguments[arg.name] = next(tensors, missing)
    if missing in arguments.values() or next(tensors, missing) is not missing:
        raise InvalidArgumentError(None, None, f"{op_type} takes {len(definition.inputs)} inputs, not {len(inputs)}")
    stated = {attr: value for attr, value in given.items() if attr not in definition.inferred_attrs()}
    try:
        outputs = list(builder.create(definition, name, {**arguments, **stated}).outputs)
        if len(outputs) > num_outputs:
            raise InvalidArgumentError(None, None, f"{op_type} gives {len(outputs)} tensors, more than {num_outputs}")
        return outputs
    except ValueError as e:
        raise InvalidArgumentError(None, None, str(e)) from e


def TFE_Py_FastPathExecute(*parameters: Any) -> Any:
    """Run an op from what its arguments are: its inputs, then names and values of attributes in turn.

    Args:
        *parameters: the context's handle and the device it asks for, of which there is one each; the op type; a name;
            what is called afterwards, besides the context's own; the inputs; attributes' names and values.

    Returns:
        The output; a list of them where the op has several, None where it has none.

    Raises:
        ValueError: if parameters are missing.
        _NotOkStatusException: if the operation fails, or there is no such op type.
        _FallbackException: if an argument is none of its kind.
    """
    if len(parameters) < _BEFORE_INPUTS:
        raise ValueError(f"{_BEFORE_INPUTS} parameters come before an op's inputs, not {len(parameters)}")
    _, _, op_name, name, _, *args = parameters
    try:
        definition = op_defs.get(op_name)
    except OpError as e:
        raise _NotOkStatusException(e.message, e.error_code) from e
    inputs, attrs = args[: len(definition.inputs)], args[len(definition.inputs) :]
    if len(inputs) < len(definition.inputs):
        raise ValueError(f"{op_name} takes {len(definition.inputs)} inputs, not {len(inputs)}")
    given = dict(zip(attrs[::2], attrs[1::2], strict=True))
    arguments = dict(zip((arg.name for arg in definition.inputs), inputs, strict=True))
    stated = {attr: value for attr, value in given.items() if attr not in definition.inferred_attrs()}
    if any(isinstance(arguments[a.name], (list, tuple)) is not a.is_list for a in definition.inputs if a.is_list):
        raise _FallbackException(f"A list of tensors is wanted for {op_name}")
    try:
        outputs = builder.create(definition, name, {**arguments, **stated}).outputs
    except (TypeError, ValueError) as e:
        raise _FallbackException(str(e)) from e
    except OpError as e:
        raise _NotOkStatusException(e.message, e.error_code) from e
    return None if not outputs else outputs[0] if len(outputs) == 1 else list(outputs)


def TFE_Py_TensorShapeSlice(tensors: Sequence[Tensor], slice_dim: int) -> Tensor:
    """One size of each of several tensors, as a vector."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"A list or a tuple of tensors is wanted, not {tensors!r}")
    if slice_dim < 0:
        raise ValueError(f"A dimension is counted from the front, not {slice_dim}")
    sizes = []
    for tensor in tensors:
        if not (isinstance(tensor, Tensor) and tensor.is_eager):
            raise TypeError(f"Tensors that have values are wanted, not {tensor!r}")
        if slice_dim >= tensor.shape.ndims:
            raise IndexError(f"A tensor of shape {tensor.shape} has no dimension {slice_dim}")
        sizes.append(tensor.shape.as_list()[slice_dim])
    return constant(sizes, dtypes.int32)


execute = execute_with_callbacks = quick_execute


def execute_with_cancellation(
    op_name: str | bytes,
    num_outputs: int,
    inputs: Sequence[Any],
    attrs: Sequence[Any] | None,
    ctx: Any,
    cancellation_manager: Any,
    name: str | None = None,
) -> list[Tensor]:
    """Run an op unless its manager says that it is cancelled: CancelledError then."""
    cancellation_manager.check(op_name)
    return quick_execute(op_name, num_outputs, inputs, attrs, ctx, name)


def _made(convert: Callable[[Any], Any], wanted: str, fits: Callable[[Any], bool] = lambda v: True) -> Callable:
    """A function that makes an attribute's value of an argument, and raises TypeError for what is none."""

    def make(v: Any, arg_name: str) -> Any:
        if fits(v):
            try:
                return convert(v)
            except (TypeError, ValueError):
                pass
        raise TypeError(f"Expected {wanted} for argument '{arg_name}' not {v!r}.")

    return make


make_int = _made(int, "int", lambda v: not isinstance(v, (str, dtypes.DType)))
make_float = _made(float, "float", lambda v: isinstance(v, numbers.Real))
make_str = _made(compat.as_bytes, "string", lambda v: isinstance(v, (str, bytes)))
make_bool = _made(lambda v: v, "bool", lambda v: isinstance(v, bool))
make_type = _made(lambda v: dtypes.as_dtype(v).base_dtype.as_datatype_enum, "DataType")


def make_shape(v: Any, arg_name: str) -> list[int | None] | None:
    """A shape as a list of sizes, None for one of unknown rank."""
    try:
        shape = TensorShape(v)
    except (TypeError, ValueError) as e:
        raise TypeError(f"Argument '{arg_name}' is no shape: {e}") from None
    return None if shape.rank is None else shape.as_list()


def make_tensor(v: Any, arg_name: str) -> TensorProto:
    """A TensorProto, from a message or its text."""
    if isinstance(v, TensorProto):
        return v
    if isinstance(v, str):
        return text_format.Parse(v, TensorProto())
    raise TypeError(f"'{arg_name}' is a TensorProto or its text, not {v!r}.")


def args_to_matching_eager(
    l: Sequence[Any],  # noqa: E741
    ctx: Any,
    default_dtype: Any = None,
) -> tuple[int, list[Tensor]]:
    """Values as tensors of one type: that of the first tensor among them, else the default one, else the first's."""
    del ctx
    if l and all(isinstance(value, Tensor) for value in l):
        return l[0].dtype.as_datatype_enum, list(l)
    dtype = next((value.dtype for value in l if isinstance(value, Tensor)), None)
    if dtype is None and default_dtype is None:
        dtype = convert_to_tensor(l[0]).dtype
    tensors = []
    for value in l:
        tensors.append(convert_to_tensor(value, dtype, preferred_dtype=default_dtype))
        dtype = tensors[-1].dtype
    return dtypes.as_dtype(dtype).as_datatype_enum, tensors


def convert_to_mixed_eager_tensors(values: Sequence[Any], ctx: Any) -> tuple[list[int], list[Tensor]]:
    """Values as tensors, each of its own type, and the numbers of the types."""
    del ctx
    tensors = [convert_to_tensor(value) for value in values]
    return [tensor.dtype.as_datatype_enum for tensor in tensors], tensors


def args_to_mixed_eager_tensors(lists: Sequence[Sequence[Any]], ctx: Any) -> tuple[list[int], list[list[Tensor]]]:
    """Lists of one length, whose values at one place become tensors of one type."""
    if len({len(values) for values in lists}) > 1:
        raise ValueError(f"Lists of one length are wanted, not of {[len(values) for values in lists]}.")
    matched = [args_to_matching_eager(values, ctx) for values in zip(*lists, strict=True)]
    return [number for number, _ in matched], [list(column) for column in zip(*(t for _, t in matched), strict=True)]
