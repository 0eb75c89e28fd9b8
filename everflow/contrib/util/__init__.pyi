# Made by `make stubs`.
from everflow import get_static_value as _get_static_value
from everflow.protos.op_def_pb2 import OpList as _OpList
from everflow._typing import Any

constant_value = _get_static_value
from everflow import make_ndarray as make_ndarray
from everflow import make_tensor_proto as make_tensor_proto
def ops_used_by_graph_def(graph_def: Any) -> Any: ...
def stripped_op_list_for_graph(graph_def: Any) -> _OpList: ...
