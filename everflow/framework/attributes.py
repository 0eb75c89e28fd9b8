"""Attribute values: between the Python values a graph holds and AttrValue protos in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import TensorValue
from everflow.protos import attr_value_pb2, tensor_shape_pb2

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.hints import Attributes
    from everflow.protos import node_def_pb2

AttrValue = attr_value_pb2.AttrValue
_SCALAR_FIELDS = ("s", "i", "f", "b")


def to_proto(value: Any) -> AttrValue:
    """The AttrValue of a Python value; its type says which field."""
    proto = AttrValue()
    if isinstance(value, (list, tuple)):
        proto.list.SetInParent()
        for item in value:
            field, held = _field(item)
            getattr(proto.list, field).append(held)
    elif value is not None:
        field, held = _field(value)
        if field in _SCALAR_FIELDS or field == "type":
            setattr(proto, field, held)
        else:
            getattr(proto, field).CopyFrom(held)
    return proto


def _field(value: Any) -> tuple[str, Any]:
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, int):
        return "i", value
    if isinstance(value, float):
        return "f", value
    if isinstance(value, bytes):
        return "s", value
    if isinstance(value, str):
        return "s", value.encode()
    if isinstance(value, dtypes.DType):
        return "type", value.as_datatype_enum
    if isinstance(value, TensorShape):
        return "shape", value.as_proto()
    if isinstance(value, TensorValue):
        return "tensor", value.proto
    if isinstance(value, attr_value_pb2.NameAttrList):
        return "func", value
    raise TypeError(f"{value!r} can't be the value of an attribute")


def from_proto(proto: AttrValue) -> Any:
    """The Python value of an AttrValue."""
    field = proto.WhichOneof("value")
    if field is None:
        return None
    if field == "placeholder":
        return proto.placeholder
    if field == "list":
        held = proto.list
        for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            values = getattr(held, name)
            if values:
                return [_value(name, v) for v in values]
        return []
    return _value(field, getattr(proto, field))


def _value(field: str, held: Any) -> Any:
    if field == "type":
        return dtypes.as_dtype(held)
    if field == "shape":
        return TensorShape(held)
    if field == "tensor":
        return TensorValue(proto=held)
    return held


def as_user_sees(value: Any) -> Any:
    """What `Operation.get_attr` returns: DTypes for types, protos for shapes and tensors."""
    if isinstance(value, (list, tuple)):
        return [as_user_sees(v) for v in value]
    if isinstance(value, TensorShape):
        return value.as_proto()
    if isinstance(value, TensorValue):
        return value.proto
    return value


def convert(kind: str, value: Any, op_type: str, name: str) -> Any:
    """A value given by a caller as the kind of attribute wants it; TypeError or ValueError where it can't be."""
    if kind.startswith("list("):
        if not isinstance(value, (list, tuple)) and not (kind == "list(shape)" and isinstance(value, TensorShape)):
            raise TypeError(f"Expected list for attr {name} of op '{op_type}', got {type(value).__name__}: {value!r}")
        return [convert(kind[5:-1], v, op_type, name) for v in value]
    converter = _CONVERTERS.get(kind)
    if converter is None:
        raise TypeError(f"Unrecognized kind of attribute {kind!r}")
    return converter(value, name)


def _as_int(value: Any, name: str) -> int:
    if isinstance(value, (bytes, str)):
        raise TypeError(f"Expected int for argument '{name}' not {value!r}.")
    try:
        return int(value)
    except TypeError:
        raise TypeError(f"Expected int for argument '{name}' not {value!r}.") from None


def _as_float(value: Any, name: str) -> float:
    if isinstance(value, (bytes, str)):
        raise TypeError(f"Expected float for argument '{name}' not {value!r}.")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"Expected float for argument '{name}' not {value!r}.") from None


def _as_bool(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        if type(value).__name__ in ("bool_", "bool"):
            return bool(value)
        raise TypeError(f"Expected bool for argument '{name}' not {value!r}.")
    return value


class Owned(bytes):
    """A string attribute that means something in this process only: `owner` says in which. Files show the string as any
    other, and the owner
    among a node's debug information."""

    owner = ""

    def __new__(cls, text: bytes, owner: str) -> Owned:
        made = super().__new__(cls, text)
        made.owner = owner
        return made

    @property
    def key(self) -> str:
        """Both as one text, which nobody else has."""
        return f"{self.decode()} of {self.owner}"


def write_owners(node: node_def_pb2.NodeDef, attrs: Attributes) -> None:
    """Note in a NodeDef to which process some of its attributes belong."""
    for key, value in attrs.items():
        if value.__class__ is Owned:
            node.experimental_debug_info.original_node_names.append(f"{key} of {value.owner}")


def read_owners(node: node_def_pb2.NodeDef, attrs: Attributes) -> None:
    """Give attributes that were read from a NodeDef the owners that it names."""
    for text in node.experimental_debug_info.original_node_names:
        key, found, owner = text.partition(" of ")
        if found and isinstance(attrs.get(key), bytes):
            attrs[key] = Owned(attrs[key], owner)


def _as_string(value: Any, name: str) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    return value


def _as_type(value: Any, name: str) -> dtypes.DType:
    try:
        return dtypes.as_dtype(value).base_dtype
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{name}' not {value!r}.") from None


def _as_shape(value: Any, name: str) -> TensorShape:
    if isinstance(value, tensor_shape_pb2.TensorShapeProto):
        return TensorShape(value)
    try:
        return value if isinstance(value, TensorShape) else TensorShape(value)
    except TypeError as e:
        raise TypeError(f"Error converting {name} (value: {value!r}) to a TensorShape: {e}") from None
    except ValueError as e:
        raise ValueError(f"Error converting {name} (value: {value!r}) to a TensorShape: {e}") from None


def _as_tensor(value: Any, name: str) -> TensorValue:
    if isinstance(value, TensorValue):
        return value
    if hasattr(value, "tensor_content"):
        return TensorValue(proto=value)
    raise TypeError(f"The attribute '{name}' takes a TensorProto, which can't be made of {value!r}.")


def _as_func(value: Any, name: str) -> attr_value_pb2.NameAttrList:
    if isinstance(value, attr_value_pb2.NameAttrList):
        return value
    if isinstance(value, (str, bytes)):
        return attr_value_pb2.NameAttrList(name=value)  # type: ignore[arg-type]  # protobuf takes UTF-8 bytes for text, too
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(_default_graph())
        return attr_value_pb2.NameAttrList(name=value.name)
    raise TypeError(f"The attribute '{name}' takes a function or the name of one, not {value!r}")


def _default_graph() -> Graph:
    from everflow.framework.scopes import get_default_graph  # builds on this module

    return get_default_graph()


_CONVERTERS = {
    "int": _as_int,
    "float": _as_float,
    "bool": _as_bool,
    "string": _as_string,
    "type": _as_type,
    "shape": _as_shape,
    "tensor": _as_tensor,
    "func": _as_func,
}
