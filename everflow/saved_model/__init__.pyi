# Made by `make stubs`.
from everflow.protos.meta_graph_pb2 import SignatureDef as _SignatureDef
from everflow.protos.meta_graph_pb2 import TensorInfo as _TensorInfo
from everflow.saved_model.builder import SavedModelBuilder as _SavedModelBuilder
import everflow as _tf
from everflow._typing import Any, TensorLike

ASSETS_DIRECTORY: str
ASSETS_KEY: str
Builder = _SavedModelBuilder
CLASSIFY_INPUTS: str
CLASSIFY_METHOD_NAME: str
CLASSIFY_OUTPUT_CLASSES: str
CLASSIFY_OUTPUT_SCORES: str
DEFAULT_SERVING_SIGNATURE_DEF_KEY: str
GPU: str
LEGACY_INIT_OP_KEY: str
MAIN_OP_KEY: str
PREDICT_INPUTS: str
PREDICT_METHOD_NAME: str
PREDICT_OUTPUTS: str
REGRESS_INPUTS: str
REGRESS_METHOD_NAME: str
REGRESS_OUTPUTS: str
SAVED_MODEL_FILENAME_PB: str
SAVED_MODEL_FILENAME_PBTXT: str
SAVED_MODEL_SCHEMA_VERSION: int
SERVING: str
TPU: str
TRAINING: str
VARIABLES_DIRECTORY: str
VARIABLES_FILENAME: str
def build_signature_def(inputs: Any = None, outputs: Any = None, method_name: Any = None) -> _SignatureDef: ...
def build_tensor_info(tensor: TensorLike) -> _TensorInfo: ...
from everflow.saved_model import builder as builder
def classification_signature_def(examples: Any, classes: Any, scores: Any) -> _SignatureDef: ...
from everflow.saved_model import constants as constants
contains_saved_model = maybe_saved_model_directory
from everflow.saved_model import experimental as experimental
def get_tensor_from_tensor_info(tensor_info: Any, graph: _tf.Graph | None = None, import_scope: Any = None) -> _tf.SparseTensor: ...
def is_valid_signature(signature_def: Any) -> Any: ...
def load(sess: Any, tags: Any, export_dir: Any, import_scope: Any = None, **saver_kwargs: Any) -> Any: ...
def load_v2(export_dir: Any, tags: Any = None) -> _tf.contrib.eager.metrics.AutoTrackable: ...
from everflow.saved_model import loader as loader
from everflow.saved_model import main_op as main_op
def main_op_with_restore(restore_op_name: Any) -> _tf.Operation: ...
def maybe_saved_model_directory(export_dir: Any) -> Any: ...
def predict_signature_def(inputs: Any, outputs: Any) -> _SignatureDef: ...
def regression_signature_def(examples: Any, predictions: Any) -> _SignatureDef: ...
def save(obj: Any, export_dir: Any, signatures: Any = None) -> None: ...
from everflow.saved_model import signature_constants as signature_constants
from everflow.saved_model import signature_def_utils as signature_def_utils
def simple_save(session: Any, export_dir: Any, inputs: Any, outputs: Any, legacy_init_op: Any = None) -> None: ...
from everflow.saved_model import tag_constants as tag_constants
from everflow.saved_model import utils as utils
