"""How messages with attributes print: in the order of their keys.

A map has no order of its own, and protobuf's fast runtime prints it as it lies in memory; people compare printed
graphs.
"""

from __future__ import annotations

from google.protobuf import text_format

from everflow.protos import attr_value_pb2, function_pb2, graph_pb2, meta_graph_pb2, node_def_pb2


def _to_text(message) -> str:
    return text_format.MessageToString(message)


for _message in (
    attr_value_pb2.AttrValue,
    attr_value_pb2.NameAttrList,
    function_pb2.FunctionDef,
    function_pb2.FunctionDefLibrary,
    graph_pb2.GraphDef,
    meta_graph_pb2.MetaGraphDef,
    node_def_pb2.NodeDef,
):
    _message.__str__ = _message.__repr__ = _to_text
