"""The generic builder: from an op type's definition and a caller's arguments to a node of the graph."""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import attributes, dtypes, op_defs
from everflow.framework.conversion import convert_n_to_tensor, internal_convert_to_tensor
from everflow.framework.errors import InvalidArgumentError, NotFoundError
from everflow.framework.op_callbacks import invoke_op_callbacks, listening
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef, arg_dtypes
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph, graph_from_inputs

if TYPE_CHECKING:
    from everflow.framework.hints import Attributes, TensorLike
    from everflow.framework.operation import Operation


_MISSING: Any = object()


def apply_op(op_type: str, name: str | None = None, **keywords: Any) -> Any:
    """Make an op of a type; keywords are its inputs and attributes. Returns its outputs (see docs/adding-ops.md)."""
    definition = op_defs.get(op_type)
    return structured_outputs(definition, create(definition, name, keywords))


def create(definition: OpDef, name: str | None, keywords: Mapping[str, Any]) -> Operation:
    """Make the Operation: attributes given are converted first, then inputs inside the op's name scope; whether the
    attributes' values may be is looked at last, so that a refused call leaves TensorFlow's constants behind.
    """
    given = dict(keywords)
    inputs_given = [(arg, given.pop(arg.name, _MISSING)) for arg in definition.inputs]
    for key, value in given.items():
        given[key] = _converted_attr(definition, key, value)
    flat: list[Any] = []
    for arg, value in inputs_given:
        if value is _MISSING:
            raise TypeError(f"No argument for input {arg.name} of op '{definition.name}'")
        if arg.is_list and isinstance(value, (list, tuple)):
            flat.extend(value)
        else:
            flat.append(value)
    default = get_default_graph()
    graph = default if default.executes else graph_from_inputs(flat)
    if graph is not default:
        with graph.as_default():
            return create(definition, name, keywords)
    if definition.deprecated_at is not None and not graph.executes and graph._producer >= definition.deprecated_at:
        raise NotImplementedError(definition.past_its_time(graph._producer))
    if name is None:
        name = definition.name
    outer = graph._name_stack
    try:
        scope = name or definition.name if graph.executes else graph._open_scope(name)
        inputs, inferred = _convert_inputs(definition, keywords, given)
        for key, value in given.items():
            _check_allowed(definition, definition.attr_by_name[key], value)
        attrs = _all_attrs(definition, inferred)
        types = output_dtypes(definition, attrs)
        if graph.executes or not definition.changes_refs:
            return graph.add_op(definition, inputs, types, attrs, scope)
        # An op that changes a ref runs where the ref is.
        with contextlib.ExitStack() as colocations:
            for arg, tensor in zip(definition.inputs, inputs):
                if arg.is_ref:
                    colocations.enter_context(graph.colocate_with(tensor.op))
            return graph.add_op(definition, inputs, types, attrs, scope)
    finally:
        graph._name_stack = outer


def _converted_attr(definition: OpDef, key: str, value: Any) -> Any:
    attr = definition.attr_by_name.get(key)
    if attr is None:
        raise TypeError(f"{definition.name}() got an unexpected keyword argument '{key}'")
    if value is None and attr.has_default:
        return attr.default
    return attributes.convert(attr.type, value, definition.name, key)


# Attributes of types that TensorFlow doesn't choose kernels by: eager execution finds one, which then refuses the type.
_UNCHOSEN = {
    op_type: attr
    for attr, op_types in {
        "T": "AsString Bitcast EncodePng ImageSummary ParameterizedTruncatedNormal RandomStandardNormal RandomUniform "
        "RandomUniformInt StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformInt StatelessTruncatedNormal "
        "TruncatedNormal",
        "Tcomplex": "FFT FFT2D FFT3D IFFT IFFT2D IFFT3D",
        "Tidx": "ArgMax ArgMin BroadcastTo ConcatV2",
        "Index": "Slice StridedSlice StridedSliceGrad",
        "Tperm": "ConjugateTranspose Transpose",
        "Tnumsegments": "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum",
        "Taxis": "GatherV2 UniqueV2 UniqueWithCountsV2",
        "Tindex": "MatrixBandPart",
        "S": "RandomGamma RandomPoisson RandomPoissonV2",
        "OUT_TYPE": "DecodeCSV",
        "dtype": "DecodePng",
        "Tout": "ComplexAbs",
    }.items()
    for op_type in op_types.split()
}


def _type_error(op_type: str, attr_name: str, message: str) -> Exception:
    """The error for a type that an op's definition doesn't allow. Executing eagerly, TensorFlow looks for a kernel."""
    if not executing_eagerly():
        return TypeError(message)
    return (InvalidArgumentError if _UNCHOSEN.get(op_type) == attr_name else NotFoundError)(None, None, message)


def _check_allowed(definition: OpDef, attr: AttrDef, value: Any) -> None:
    if attr.allowed is not None:
        for item in value if isinstance(value, list) else [value]:
            if item in attr.allowed:
                continue
            if isinstance(item, dtypes.DType):
                allowed = ", ".join(t.name for t in attr.allowed)
                message = f"Value passed to parameter '{attr.name}' of a '{definition.name}' op is {item.name}, but it must be one of: {allowed}"
                raise _type_error(definition.name, attr.name, message)
            allowed = ", ".join(f'"{v.decode()}"' for v in attr.allowed)
            raise _wrong_value(
                f"Attr '{attr.name}' of '{definition.name}' Op passed string '{item.decode()}' not in: {allowed}."
            )
    if attr.minimum is not None:
        if isinstance(value, list):
            if len(value) < attr.minimum:
                raise _wrong_value(
                    f"Attr '{attr.name}' of a '{definition.name}' op is a list of {len(value)}, but needs at least {attr.minimum}."
                )
        elif value < attr.minimum:
            raise _wrong_value(
                f"Attr '{attr.name}' of a '{definition.name}' op is {value}, but must be at least {attr.minimum}."
            )


def _convert_inputs(
    definition: OpDef,
    keywords: Mapping[str, Any],
    given: Attributes,
) -> tuple[list[Tensor], Attributes]:
    """(tensors, attributes that follow from them)."""
    attrs = dict(given)
    source: dict[str, str] = {}
    inputs: list[Tensor] = []
    for arg in definition.inputs:
        wanted = arg.type if arg.type is not None else attrs.get(arg.type_attr)
        if wanted is None and arg.type_attr and not isinstance(keywords[arg.name], Tensor) and executing_eagerly():
            wanted = _type_of_tensors(definition, arg.type_attr, keywords)
        default = None
        if wanted is None and arg.type_attr:
            attr = definition.attr_by_name[arg.type_attr]
            # Eagerly an array stays of its type; a graph takes the usual one, where the array can be of it.
            own = isinstance(keywords[arg.name], np.ndarray) and executing_eagerly()
            default = attr.default if attr.has_default and not own else None
        if arg.is_list:
            tensors = _convert_list(definition, arg, keywords[arg.name], wanted, default, attrs)
        else:
            tensors = [_convert_one(definition, arg, keywords[arg.name], wanted, default, source)]
        _infer(definition, arg, tensors, attrs, source)
        if arg.is_ref and not all(t.dtype._is_ref_dtype for t in tensors):
            raise TypeError(
                f"Input '{arg.name}' of a '{definition.name}' op must be a mutable tensor, such as a tf.Variable"
            )
        inputs.extend(tensors)
    return inputs, attrs


def _type_of_tensors(definition: OpDef, type_attr: str, keywords: Mapping[str, Any]) -> dtypes.DType | None:
    """The type of the first tensor among the inputs that share one: where operations run at once, numbers become that."""
    for arg in definition.inputs:
        if arg.type_attr == type_attr:
            given = keywords[arg.name]
            for value in given if arg.is_list and isinstance(given, (list, tuple)) else [given]:
                # That of a variable, too; arrays have types of numpy's.
                if isinstance(dtype := getattr(value, "dtype", None), dtypes.DType):
                    return dtype.base_dtype
    return None


def _convert_one(
    definition: OpDef,
    arg: ArgDef,
    value: TensorLike,
    wanted: dtypes.DType | None,
    default: dtypes.DType | None,
    source: dict[str, str],
) -> Tensor:
    try:
        return internal_convert_to_tensor(value, wanted, arg.name, arg.is_ref, default)
    except TypeError as e:
        if wanted is None:
            raise
        raise TypeError(
            f"Expected {wanted.name} for '{arg.name}' of op '{definition.name}', but {value!r}, a "
            f"'{type(value).__name__}', can't be converted: {e}"
        ) from None
    except ValueError:
        if not isinstance(value, Tensor) and executing_eagerly():
            raise
        # Find the type it does have, to say so; a value that is no tensor at all raises by itself here.
        observed = internal_convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
        prefix = f"Input '{arg.name}' of a '{definition.name}' op is of type {observed}, not"
        if arg.type is not None:
            raise _wrong_type(f"{prefix} {arg.type.name} as it must be.") from None
        if wanted is not None and arg.type_attr in source:
            raise _wrong_type(f"{prefix} {wanted.name} as its argument '{source[arg.type_attr]}'.") from None
        raise


def _convert_list(
    definition: OpDef,
    arg: ArgDef,
    values: Sequence[TensorLike],
    wanted: dtypes.DType | None,
    default: dtypes.DType | None,
    attrs: Attributes,
) -> list[Tensor]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"Expected list for '{arg.name}' argument to '{definition.name}' Op, not {values!r}.")
    if arg.type_list_attr:
        types = attrs.get(arg.type_list_attr)
        if types is not None and len(types) == len(values):
            return [
                internal_convert_to_tensor(v, t, f"{arg.name}_{i}", arg.is_ref)
                for i, (v, t) in enumerate(zip(values, types))
            ]
        for index, value in enumerate(values):
            if value is None:
                raise TypeError(f"None is no tensor: it is item {index} of '{arg.name}' of a '{definition.name}' op")
        return convert_n_to_tensor(values, None, arg.name, as_ref=arg.is_ref)
    if wanted is None:
        wanted = next((v.dtype.base_dtype for v in values if isinstance(v, Tensor)), None)
    elif not arg.is_ref:
        wanted = wanted.base_dtype
    try:
        tensors = convert_n_to_tensor(values, wanted, arg.name, default if wanted is None else None, arg.is_ref)
        if not arg.number_attr or len({t.dtype.base_dtype for t in tensors}) <= 1:
            return tensors
        names = [t.dtype.name for t in tensors]
    except (TypeError, ValueError) as e:
        if isinstance(e, ValueError) and executing_eagerly() and not all(isinstance(v, Tensor) for v in values):
            raise
        names = [_type_name(value, arg.is_ref) for value in values]
    prefix = f"The list for '{arg.name}' of a '{definition.name}' op has tensors of the types [{', '.join(names)}],"
    error = _wrong_type if all(isinstance(v, Tensor) for v in values) else TypeError
    raise error(f"{prefix} " + ("which don't all match." if wanted is None else f"where all must be {wanted.name}."))


def _type_name(value: TensorLike, as_ref: bool) -> str:
    """The type of the tensor that a value becomes, in words."""
    try:
        return internal_convert_to_tensor(value, as_ref=as_ref).dtype.name
    except (TypeError, ValueError):
        return "<NOT CONVERTIBLE TO TENSOR>"


def _wrong_type(message: str) -> Exception:
    """The error for an input of another type than it should have."""
    return InvalidArgumentError(None, None, message) if executing_eagerly() else TypeError(message)


def _wrong_value(message: str) -> Exception:
    """The error for an attribute that may not have the value it is given."""
    return InvalidArgumentError(None, None, message) if executing_eagerly() else ValueError(message)


def _infer(
    definition: OpDef,
    arg: ArgDef,
    tensors: Sequence[Tensor],
    attrs: Attributes,
    source: dict[str, str],
) -> None:
    """Set the attributes that an input argument's tensors decide, or check them against what is set."""
    types = [t._dtype.base_dtype for t in tensors]
    if arg.number_attr:
        _infer_number(definition, arg, len(tensors), attrs, source)
    if arg.type_list_attr:
        _infer_types(definition, arg, types, attrs, source)
    elif arg.type_attr and types:
        _infer_type(definition, arg, types[0], attrs, source)
    elif arg.type_attr and arg.type_attr not in attrs:
        attr = definition.attr_by_name[arg.type_attr]
        if not attr.has_default:
            raise TypeError(
                f"The type of the empty list for input '{arg.name}' of a '{definition.name}' op can't be known: give {arg.type_attr}."
            )
        attrs[arg.type_attr] = attr.default


def _infer_number(definition: OpDef, arg: ArgDef, count: int, attrs: Attributes, source: dict[str, str]) -> None:
    """How many tensors a list has."""
    known = attrs.get(arg.number_attr)
    if known is not None and known != count:
        where = source.get(arg.number_attr, arg.number_attr)
        raise ValueError(
            f"The list '{arg.name}' of a '{definition.name}' op has {count} tensors, but '{where}' has {known}: they must be as many."
        )
    _check_count(definition, arg, count, arg.number_attr)
    attrs[arg.number_attr] = count
    source.setdefault(arg.number_attr, arg.name)


def _infer_type(definition: OpDef, arg: ArgDef, dtype: dtypes.DType, attrs: Attributes, source: dict[str, str]) -> None:
    """The type that all tensors of an argument have."""
    known = attrs.get(arg.type_attr)
    if known is None:
        _check_type(definition, arg.type_attr, dtype, arg.name)
        attrs[arg.type_attr] = dtype
        source[arg.type_attr] = arg.name
    elif known is not dtype and known != dtype:
        raise _wrong_type(
            f"Input '{arg.name}' of a '{definition.name}' op is of type {dtype.name}, not {known.name}"
            f" as its argument '{source.get(arg.type_attr, arg.type_attr)}'."
        )


def _infer_types(
    definition: OpDef,
    arg: ArgDef,
    types: list[dtypes.DType],
    attrs: Attributes,
    source: dict[str, str],
) -> None:
    """The types of an argument's tensors, each of its own."""
    known = attrs.get(arg.type_list_attr)
    if known is not None and list(known) != types:
        raise TypeError(
            f"Input '{arg.name}' of a '{definition.name}' op has the types {[t.name for t in types]}, not"
            f" {[t.name for t in known]} as its argument '{source.get(arg.type_list_attr, arg.type_list_attr)}'."
        )
    _check_count(definition, arg, len(types), arg.type_list_attr)
    for item in types:
        _check_type(definition, arg.type_list_attr, item, arg.name)
    attrs[arg.type_list_attr] = types
    source.setdefault(arg.type_list_attr, arg.name)


def _check_count(definition: OpDef, arg: ArgDef, count: int, attr_name: str) -> None:
    minimum = definition.attr_by_name[attr_name].minimum
    if minimum is not None and count < minimum:
        raise _wrong_value(
            f"The list '{arg.name}' of a '{definition.name}' op has {count} tensors, but needs at least {minimum}."
        )


def _check_type(definition: OpDef, attr_name: str, dtype: dtypes.DType, parameter: str) -> None:
    allowed = definition.attr_by_name[attr_name].allowed
    if allowed is not None and dtype not in allowed:
        names = ", ".join(t.name for t in allowed)
        message = f"Value passed to parameter '{parameter}' of a '{definition.name}' op is of type {dtype.name}, but it must be one of: {names}"
        raise _type_error(definition.name, attr_name, message)


def _all_attrs(definition: OpDef, inferred: Attributes) -> Attributes:
    attrs = {}
    for attr in definition.attrs:
        if attr.name in inferred:
            attrs[attr.name] = inferred[attr.name]
        elif attr.has_default:
            attrs[attr.name] = list(attr.default) if isinstance(attr.default, list) else attr.default
        else:
            raise TypeError(f"No argument for attr {attr.name} of op '{definition.name}'")
    return attrs


def complete_attrs(definition: OpDef, inputs: Sequence[Tensor], attrs: Attributes) -> Attributes:
    """The attributes of an op from what a caller of `Graph.create_op` gave, its input tensors and the defaults."""
    inferred = dict(attrs)
    position = 0
    for arg in definition.inputs:
        if arg.number_attr:
            count = inferred.get(arg.number_attr)
            if count is None:
                count = inferred[arg.number_attr] = len(inputs) - position - _inputs_after(definition, arg)
        elif arg.type_list_attr:
            types = inferred.get(arg.type_list_attr)
            count = len(types) if types is not None else len(inputs) - position - _inputs_after(definition, arg)
        else:
            count = 1
        tensors = inputs[position : position + count]
        position += count
        if arg.type_list_attr:
            inferred.setdefault(arg.type_list_attr, [t.dtype.base_dtype for t in tensors])
        elif arg.type_attr and tensors:
            inferred.setdefault(arg.type_attr, tensors[0].dtype.base_dtype)
    complete = _all_attrs(definition, inferred)
    complete.update((k, v) for k, v in inferred.items() if k not in complete)
    return complete


def _inputs_after(definition: OpDef, arg: ArgDef) -> int:
    """How many single-tensor inputs follow an argument; a list's length is what they leave."""
    later = definition.inputs[definition.inputs.index(arg) + 1 :]
    return sum(1 for a in later if not a.is_list)


def output_dtypes(definition: OpDef, attrs: Attributes) -> list[dtypes.DType]:
    """The dtypes of an op's outputs, refs among them marked."""
    return [dtype for arg in definition.outputs for dtype in arg_dtypes(arg, attrs)]


@functools.cache
def _result_tuple(op_type: str, names: tuple[str, ...]) -> Callable[..., tuple[Any, ...]]:
    return collections.namedtuple(op_type, names, rename=True)


def structured_outputs(definition: OpDef, op: Operation) -> Any:
    """An op's outputs as its build function returns them."""
    outputs = _outputs_after_callbacks(op) if listening.callbacks and not op.graph.executes else op.outputs
    if not definition.outputs:
        return None if op.graph.executes else op
    if len(definition.outputs) == 1:
        if outputs or op.graph.executes:
            return list(outputs) if definition.outputs[0].is_list else outputs[0]
        return op  # a list of no outputs leaves only the op to hold on to
    return structured(definition, op.attrs, outputs)


def _outputs_after_callbacks(op: Operation) -> Sequence[Any]:
    """The outputs of a new op of a graph, or what the callbacks of this thread put in their place."""
    attrs = tuple(
        part
        for name in (attr.name for attr in op.definition.attrs)
        for part in (name, attributes.to_proto(op.attrs[name]))
    )
    with op.graph.name_scope(f"{op.name}/"):
        return invoke_op_callbacks(op.type, tuple(op.inputs), attrs, tuple(op.outputs), op.name, op.graph)


def structured(definition: OpDef, attrs: Attributes, outputs: Sequence[Any]) -> Any:
    """Output tensors as a build function returns them: one, a list, or a named tuple of these."""
    if len(definition.outputs) == 1:
        return list(outputs) if definition.outputs[0].is_list else outputs[0]
    parts, position = [], 0
    for arg in definition.outputs:
        count = len(arg_dtypes(arg, attrs))
        parts.append(list(outputs[position : position + count]) if arg.is_list else outputs[position])
        position += count
    return output_kind(definition)(*parts)


def output_kind(definition: OpDef) -> Callable[..., tuple[Any, ...]]:
    """The named tuple that an op type of several outputs gives."""
    return _result_tuple(definition.name, tuple(arg.name for arg in definition.outputs))
