# Made by `make stubs`.
from everflow.protos.meta_graph_pb2 import TensorInfo as _TensorInfo
import everflow as _tf
from everflow._typing import Any

from everflow.saved_model import build_tensor_info as build_tensor_info
def build_tensor_info_from_op(op: Any) -> _TensorInfo: ...
def get_element_from_tensor_info(tensor_info: Any, graph: _tf.Graph | None = None, import_scope: Any = None) -> Any: ...
from everflow.saved_model import get_tensor_from_tensor_info as get_tensor_from_tensor_info
