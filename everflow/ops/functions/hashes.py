"""Names of functions that nobody named: what they are called, and a hash of what is in them.

The hash is part of the nodes that call such a function, so it is TensorFlow's: of everything in the definition that
changes what the function does, in an order that doesn't hang on how the message was built. Equal functions of two
programs have one name.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

from everflow.formats import varints
from everflow.formats.murmur import SEED, combined, murmur64
from everflow.framework.tensor_values import array_of
from everflow.protos import tensor_pb2

if TYPE_CHECKING:
    from everflow.protos import attr_value_pb2, function_pb2, node_def_pb2, op_def_pb2

# Bytes of a constant that are hashed one by one; of a larger one a digest is.
_WHOLE_CONSTANTS = 1 << 20


def hashed_name(function: function_pb2.FunctionDef, prefix: str) -> str:
    """A name that tells functions with different bodies apart."""
    letters = base64.urlsafe_b64encode(function_hash(function).to_bytes(8, "little")).decode().rstrip("=")
    # What can't stand in the name of an op, or would look odd there.
    return f"{prefix}_{letters.replace('-', 'a').replace('_', 'A')}"


def function_hash(function: function_pb2.FunctionDef) -> int:
    """The hash of a definition: its signature, attributes, nodes and results."""
    h = _of_attributes(function.attr, _of_signature(function.signature))
    h = combined(_of_nodes(function.node_def), h)
    for results in (function.ret, function.control_ret):
        h = _of_texts((text for pair in sorted(results.items()) for text in pair), h)
    return h


def _of_texts(texts: Iterable[str], h: int) -> int:
    return reduce(lambda so_far, text: murmur64(text.encode(), so_far), texts, h)


def _of_proto(proto: Any, h: int = SEED) -> int:
    return murmur64(proto.SerializeToString(deterministic=True), h)


def _of_signature(signature: op_def_pb2.OpDef) -> int:
    h = SEED
    for definition in sorted(signature.attr, key=lambda d: d.name):
        h = combined(_of_proto(definition), _of_texts([definition.name], h))
    for name in sorted(set(signature.control_output)):
        h = combined(h, murmur64(name.encode()))
    rest = type(signature)()
    rest.CopyFrom(signature)
    rest.ClearField("attr")
    rest.ClearField("control_output")
    return _of_proto(rest, h)


def _of_nodes(nodes: Iterable[node_def_pb2.NodeDef]) -> int:
    h = SEED
    for node in sorted(nodes, key=lambda n: n.name):
        h = combined(_of_node(node), _of_texts([node.name], h))
    return h


def _of_node(node: node_def_pb2.NodeDef) -> int:
    controls = sorted({i for i in node.input if i.startswith("^")})
    data = [i for i in node.input if not i.startswith("^")]
    h = _of_texts([node.op, node.device, *data, *controls], murmur64(node.name.encode()))
    return _of_attributes({k: v for k, v in node.attr.items() if not k.startswith("_")}, h)


def _of_attributes(attrs: Any, h: int) -> int:
    for key, value in sorted(attrs.items()):
        h = combined(_of_attribute(value), _of_texts([key], h))
    return h


def _of_attribute(value: attr_value_pb2.AttrValue) -> int:
    if value.HasField("tensor"):
        return _of_proto(_with_content(value.tensor))
    if value.HasField("func"):
        return _of_attributes(value.func.attr, murmur64(value.func.name.encode()))
    return _of_proto(value)


def _with_content(tensor: tensor_pb2.TensorProto) -> tensor_pb2.TensorProto:
    """A constant with its values as bytes, however the given one holds them."""
    array = array_of(tensor)
    content = varints.encode_strings(array.ravel().tolist()) if array.dtype == object else array.tobytes()
    if len(content) > _WHOLE_CONSTANTS:
        content = hashlib.sha256(content).digest()
    return tensor_pb2.TensorProto(dtype=tensor.dtype, tensor_shape=tensor.tensor_shape, tensor_content=content)
