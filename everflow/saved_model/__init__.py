"""tf.saved_model: models as folders that programs and servers load."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.saved_model import (
    builder,
    constants,
    experimental,
    loader,
    main_op,
    signature_constants,
    signature_def_utils,
    tag_constants,
    utils,
)
from everflow.saved_model.builder import SavedModelBuilder as Builder
from everflow.saved_model.builder import simple_save
from everflow.saved_model.constants import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from everflow.saved_model.loader import contains_saved_model, load, maybe_saved_model_directory
from everflow.saved_model.main_op import main_op_with_restore
from everflow.saved_model.object_loading import load_v2
from everflow.saved_model.object_saving import save
from everflow.saved_model.signature_constants import (
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
)
from everflow.saved_model.signature_def_utils import (
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)
from everflow.saved_model.tag_constants import GPU, SERVING, TPU, TRAINING
from everflow.saved_model.utils import build_tensor_info, get_tensor_from_tensor_info
