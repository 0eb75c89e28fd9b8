# Made by `make stubs`.
from everflow.protos.graph_pb2 import GraphDef as _GraphDef
from everflow._typing import Any, NamedTuple

class SupportedOp(NamedTuple):
    op: Any

def convert_op_hints_to_stubs(session: Any = None, graph_def: Any = None, write_callback: Any = ...) -> _GraphDef: ...
def get_potentially_supported_ops() -> list[SupportedOp]: ...
def load_delegate(library: Any, options: Any = None) -> Any: ...
from everflow.lite.experimental import nn as nn
