"""Signatures and argument lists as files hold them: nested values with TensorSpecs, as StructuredValue messages."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.protos.struct_pb2 import StructuredValue, TypeSpecProto

# Fields of plain values; a bool is an int, too, and comes first.
_SCALARS = {bool: "bool_value", int: "int64_value", float: "float64_value", str: "string_value"}

# How files call the types of values that aren't plain tensors.
_SPECS = {
    "SparseTensorSpec": TypeSpecProto.SPARSE_TENSOR_SPEC,
    "IndexedSlicesSpec": TypeSpecProto.INDEXED_SLICES_SPEC,
    "RaggedTensorSpec": TypeSpecProto.RAGGED_TENSOR_SPEC,
    "TensorArraySpec": TypeSpecProto.TENSOR_ARRAY_SPEC,
    "DatasetSpec": TypeSpecProto.DATA_DATASET_SPEC,
    "IteratorSpec": TypeSpecProto.DATA_ITERATOR_SPEC,
    "OptionalSpec": TypeSpecProto.OPTIONAL_SPEC,
}


def encode(value) -> StructuredValue:
    """A nested value as a message; ValueError for what a file can't hold."""
    proto = StructuredValue()
    if value is None:
        proto.none_value.SetInParent()
    elif isinstance(value, tuple(_SCALARS)):
        setattr(proto, next(field for kind, field in _SCALARS.items() if isinstance(value, kind)), value)
    elif isinstance(value, TensorShape):
        proto.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, dtypes.DType):
        proto.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TensorSpec):
        spec = proto.tensor_spec_value
        spec.name, spec.dtype = value.name or "", value.dtype.as_datatype_enum
        spec.shape.CopyFrom(value.shape.as_proto())
    elif isinstance(value, dict):
        proto.dict_value.SetInParent()
        for key, item in value.items():
            proto.dict_value.fields[key].CopyFrom(encode(item))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        proto.named_tuple_value.name = type(value).__name__
        for key, item in zip(value._fields, value, strict=True):
            proto.named_tuple_value.values.add(key=key).value.CopyFrom(encode(item))
    elif isinstance(value, (list, tuple)):
        held = proto.tuple_value if isinstance(value, tuple) else proto.list_value
        held.SetInParent()
        held.values.extend(encode(item) for item in value)
    elif isinstance(value, TypeSpec) and type(value).__name__ in _SPECS:
        spec = proto.type_spec_value
        spec.type_spec_class_name = type(value).__name__
        spec.type_spec_class = _SPECS[spec.type_spec_class_name]
        spec.type_state.CopyFrom(encode(value._serialize()))
    else:
        raise ValueError(f"A SavedModel can't hold {value!r} as part of a function's arguments or results.")
    return proto


def decode(proto: StructuredValue):
    """The nested value that a message holds."""
    kind = proto.WhichOneof("kind")
    if kind in (None, "none_value"):
        return None
    held = getattr(proto, kind)
    if kind == "tensor_shape_value":
        return TensorShape(held)
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(held)
    if kind == "tensor_spec_value":
        return TensorSpec(TensorShape(held.shape), dtypes.as_dtype(held.dtype), held.name or None)
    if kind == "dict_value":
        return {key: decode(held.fields[key]) for key in sorted(held.fields)}
    if kind == "named_tuple_value":
        return collections.namedtuple(held.name, [pair.key for pair in held.values])(
            *[decode(pair.value) for pair in held.values]
        )
    if kind in ("list_value", "tuple_value"):
        values = [decode(item) for item in held.values]
        return tuple(values) if kind == "tuple_value" else values
    if kind == "type_spec_value":
        return _spec_class(held)(*decode(held.type_state))
    return held


def _spec_class(proto: TypeSpecProto) -> type[TypeSpec]:
    """The class of a TypeSpec in a file; whoever has values of that type has loaded it."""
    wanted = next((name for name, number in _SPECS.items() if number == proto.type_spec_class), None)
    waiting: list[type] = [TypeSpec]
    while waiting:
        found = waiting.pop()
        if found.__name__ == wanted:
            return found
        waiting += found.__subclasses__()
    raise ValueError(f"Values of type {proto.type_spec_class_name or proto.type_spec_class} are not known here.")
