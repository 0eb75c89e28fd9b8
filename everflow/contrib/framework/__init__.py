"""tf.contrib.framework: arg_scope, variables of models, restoring, and small functions on tensors and names."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from everflow.contrib.framework.assigning import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
)
from everflow.contrib.framework.checkpoints import init_from_checkpoint, list_variables, load_checkpoint, load_variable
from everflow.contrib.framework.fusing import fuse_op
from everflow.contrib.framework.record_input import RecordInput
from everflow.contrib.framework.remapping import (
    load_embedding_initializer,
    load_linear_multiclass_bias_initializer,
    load_variable_slot_initializer,
)
from everflow.contrib.framework.tensors import (
    BoundedTensorSpec,
    assert_scalar_int,
    get_graph_from_inputs,
    get_name_scope,
    get_placeholders,
    prepend_name_scope,
    py_func,
    reduce_sum_n,
    remove_squeezable_dimensions,
    strip_name_scope,
    with_same_shape,
    with_shape,
)
from everflow.contrib.framework.variables import (
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
    zero_initializer,
)
from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor_or_sparse_tensor
from everflow.framework.static_values import is_tensor
from everflow.framework.type_specs import TensorSpec
from everflow.ops.array import argsort, sort
from everflow.ops.checks.shapes import assert_same_float_dtype, assert_scalar
from everflow.ops.control_flow import smart_case, smart_cond, smart_constant_value
from everflow.ops.variables.convolution_initializers import (
    convolutional_delta_orthogonal,
    convolutional_orthogonal_1d,
    convolutional_orthogonal_2d,
    convolutional_orthogonal_3d,
)
from everflow.ops.vocabulary_remapping import load_and_remap_matrix_initializer
from everflow.platform.deprecation import deprecated, deprecated_arg_values, deprecated_args
