"""Reading and writing GraphDefs and their like for the tools, and small things that all of them do with nodes."""

from __future__ import annotations

import ast
import collections

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError

from everflow.framework.tensor_values import array_of, make_tensor_proto
from everflow.platform import file_io
from everflow.protos.attr_value_pb2 import AttrValue
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef


def read_message(path, kind, binary, what="graph"):
    """A proto message out of a file; OSError that names a file which is missing or can't be read."""
    if not file_io.file_exists(path):
        raise OSError(f"Input {what} file '{path}' does not exist!")
    message = kind()
    try:
        if binary:
            message.ParseFromString(file_io.read_file_to_string(path, binary_mode=True))
        else:
            text_format.Parse(file_io.read_file_to_string(path), message)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as e:
        raise OSError(f"Cannot parse {path} as a {'binary' if binary else 'text'} {kind.DESCRIPTOR.name}: {e}") from e
    return message


def write_message(path, message, binary=True):
    """Write a proto message, whole or not at all."""
    content = message.SerializeToString(deterministic=True) if binary else text_format.MessageToString(message)
    file_io.atomic_write_string_to_file(path, content)


def copy_graph(graph_def) -> GraphDef:
    """A GraphDef that can be changed without changing the one given."""
    copied = GraphDef()
    copied.CopyFrom(graph_def)
    return copied


def copy_node(node) -> NodeDef:
    """A NodeDef that can be changed without changing the one given."""
    copied = NodeDef()
    copied.CopyFrom(node)
    return copied


def with_nodes(graph_def, nodes) -> GraphDef:
    """A GraphDef with other nodes, and the functions and versions of the one given."""
    made = GraphDef(library=graph_def.library, versions=graph_def.versions)
    made.node.extend(nodes)
    return made


def uses_of_nodes(graph_def) -> collections.Counter:
    """How often each node is an input."""
    return collections.Counter(node_name_from_input(edge) for node in graph_def.node for edge in node.input)


def node_name_from_input(node_name):
    """The node that an input names: "^a" and "a:1" are node "a"."""
    return node_name.removeprefix("^").partition(":")[0]


def attribute(node, name) -> AttrValue:
    """An attribute of a node, empty where it has none; looking into `node.attr` itself would add it."""
    return node.attr[name] if name in node.attr else AttrValue()


def constant_node(name, value, dtype) -> NodeDef:
    """A Const node; `dtype` as a number of the enum."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(np.asarray(value), dtype))
    return node


def constant_value(node) -> np.ndarray:
    """The value of a Const node."""
    if node.op != "Const":
        raise ValueError(f"Can not extract constant value from a node that is not Const. Got:\n{node}")
    return array_of(node.attr["value"].tensor)


def comma_separated(text):
    """The words of a flag; spaces around them are nobody's."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def truth(text):
    """A flag's value as a truth value."""
    return text.lower() in ("true", "t", "1", "yes")


# Kinds of flags, by what a table calls them.
_FLAGS = {
    "text": {"default": ""},
    "needed": {"required": True},
    "switch": {"action": "store_true"},
    "true": {"nargs": "?", "const": True, "default": True, "type": truth},
    "false": {"nargs": "?", "const": True, "default": False, "type": truth},
}


def add_flags(parser, table, **kinds):
    """Add a flag for each line of a table: `--name | kinds | help`. A kind is one of the above or of `kinds`, a dict of
    options, or a single option such as `metavar="FILE"`.
    """
    for line in table.strip().splitlines():
        name, words, text = (cell.strip() for cell in line.split("|", 2))
        options = {}
        for word in words.split():
            key, equals, value = word.partition("=")
            options |= {key: ast.literal_eval(value)} if equals else {**_FLAGS, **kinds}[key]
        parser.add_argument(name, help=text, **options)
