# Made by `make stubs`.
from everflow.protos.meta_graph_pb2 import SignatureDef as _SignatureDef
from everflow._typing import Any

from everflow.saved_model import build_signature_def as build_signature_def
from everflow.saved_model import classification_signature_def as classification_signature_def
from everflow.saved_model import is_valid_signature as is_valid_signature
def load_op_from_signature_def(signature_def: Any, key: Any, import_scope: Any = None) -> Any: ...
def op_signature_def(op: Any, key: Any) -> _SignatureDef: ...
from everflow.saved_model import predict_signature_def as predict_signature_def
from everflow.saved_model import regression_signature_def as regression_signature_def
