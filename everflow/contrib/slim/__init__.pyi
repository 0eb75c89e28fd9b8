# Made by `make stubs`.
from everflow.contrib import framework as _framework
from everflow.contrib.layers import convolution1d as _convolution1d
from everflow.contrib.layers import convolution2d as _convolution2d
from everflow.contrib.layers import convolution2d_in_plane as _convolution2d_in_plane
from everflow.contrib.layers import convolution2d_transpose as _convolution2d_transpose
from everflow.contrib.layers import convolution3d as _convolution3d
from everflow.contrib.layers import convolution3d_transpose as _convolution3d_transpose
from everflow.contrib.layers import outputs as _outputs
from everflow.contrib.layers import separable_convolution2d as _separable_convolution2d
from everflow.contrib.layers import xavier_initializer as _xavier_initializer
import everflow as _tf
from everflow._typing import Any, Callable, Mapping, NamedTuple, ScalarLike, TensorLike

from everflow.contrib.framework import BoundedTensorSpec as BoundedTensorSpec
class DataFrameColumn(NamedTuple):
    column_name: Any
    series: Any
    def __getattr__(self, name: str) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __lt__(self, other: Any) -> Any: ...
    def _get_config(self) -> dict[Any, Any]: ...
    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any: ...
    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any: ...
    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any: ...
    @property
    def _num_buckets(self) -> Any: ...
    def _numbers(self, tensor: Any, rank: Any) -> _tf.Tensor: ...
    @property
    def _parse_example_spec(self) -> Any: ...
    def _transform_feature(self, inputs: Any) -> Any: ...
    @property
    def _var_scope_name(self) -> Any: ...
    @property
    def _variable_shape(self) -> Any: ...
    @property
    def config(self) -> Any: ...
    def create_state(self, state_manager: Any) -> Any: ...
    def dense_numbers(self, transformed: Any) -> _tf.Tensor: ...
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any, output_rank: ScalarLike | None = 2) -> _tf.Tensor: ...
    def insert_transformed_feature(self, columns_to_tensors: Any) -> None: ...
    @property
    def key(self) -> Any: ...
    @property
    def name(self) -> Any: ...
    @property
    def parse_example_spec(self) -> Any: ...
    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any: ...
    @property
    def var_scope_name(self) -> Any: ...
    def weighted_ids(self, transformed: Any) -> Any: ...

from everflow.contrib.layers import GDN as GDN
class InputLayer:
    _template: Any
    def __init__(self, feature_columns: Any, weight_collections: Any = None, trainable: bool = True, cols_to_vars: Any = None, name: str | None = 'feature_column_input_layer', create_scope_now: bool = True) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _layer(self, features: TensorLike | Mapping[Any, Any]) -> _tf.Tensor: ...
    @property
    def name(self) -> Any: ...
    @property
    def non_trainable_variables(self) -> Any: ...
    @property
    def non_trainable_weights(self) -> Any: ...
    @property
    def trainable_variables(self) -> Any: ...
    @property
    def trainable_weights(self) -> Any: ...
    @property
    def variables(self) -> Any: ...
    @property
    def weights(self) -> Any: ...

OPTIMIZER_CLS_NAMES: dict
OPTIMIZER_SUMMARIES: list
from everflow.contrib.learn import ProblemType as ProblemType
from everflow.contrib.framework import RecordInput as RecordInput
from everflow.contrib.layers import RevBlock as RevBlock
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY: int
from everflow import TensorSpec as TensorSpec
from everflow.contrib.framework import VariableDeviceChooser as VariableDeviceChooser
from everflow.contrib.layers import adaptive_clipping_fn as adaptive_clipping_fn
from everflow.contrib.framework import add_arg_scope as add_arg_scope
from everflow.contrib.framework import add_model_variable as add_model_variable
from everflow.contrib.layers import apply_regularization as apply_regularization
from everflow.contrib.framework import arg_scope as arg_scope
from everflow.contrib.framework import arg_scope_func_key as arg_scope_func_key
from everflow.contrib.framework import arg_scoped_arguments as arg_scoped_arguments
from everflow import argsort as argsort
from everflow.contrib.framework import assert_global_step as assert_global_step
from everflow.contrib.framework import assert_or_get_global_step as assert_or_get_global_step
from everflow import assert_same_float_dtype as assert_same_float_dtype
from everflow import assert_scalar as assert_scalar
from everflow.contrib.framework import assert_scalar_int as assert_scalar_int
from everflow.contrib.framework import assign_from_checkpoint as assign_from_checkpoint
from everflow.contrib.framework import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from everflow.contrib.framework import assign_from_values as assign_from_values
from everflow.contrib.framework import assign_from_values_fn as assign_from_values_fn
from everflow.contrib.layers import avg_pool2d as avg_pool2d
from everflow.contrib.layers import avg_pool3d as avg_pool3d
from everflow.contrib.layers import batch_norm as batch_norm
from everflow.contrib.layers import bias_add as bias_add
def binary_svm_target(label_name: Any = None, weight_column_name: Any = None) -> Any: ...
from everflow.contrib.layers import bow_encoder as bow_encoder
def bucketize(input_tensor: TensorLike, boundaries: Any, name: str | None = None) -> _tf.Tensor: ...
from everflow.contrib.layers import bucketized_column as bucketized_column
from everflow.contrib.layers import check_feature_columns as check_feature_columns
conv1d = _convolution1d
conv2d = _convolution2d
conv2d_in_plane = _convolution2d_in_plane
conv2d_transpose = _convolution2d_transpose
conv3d = _convolution3d
conv3d_transpose = _convolution3d_transpose
from everflow import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from everflow.contrib.layers import convolution as convolution
from everflow.contrib.layers import convolution1d as convolution1d
from everflow.contrib.layers import convolution2d as convolution2d
from everflow.contrib.layers import convolution2d_in_plane as convolution2d_in_plane
from everflow.contrib.layers import convolution2d_transpose as convolution2d_transpose
from everflow.contrib.layers import convolution3d as convolution3d
from everflow.contrib.layers import convolution3d_transpose as convolution3d_transpose
from everflow.contrib.framework import convolutional_delta_orthogonal as convolutional_delta_orthogonal
from everflow.contrib.framework import convolutional_orthogonal_1d as convolutional_orthogonal_1d
from everflow.contrib.framework import convolutional_orthogonal_2d as convolutional_orthogonal_2d
from everflow.contrib.framework import convolutional_orthogonal_3d as convolutional_orthogonal_3d
from everflow.contrib.layers import create_feature_spec_for_parsing as create_feature_spec_for_parsing
from everflow.contrib.framework import create_global_step as create_global_step
from everflow.contrib.layers import crossed_column as crossed_column
from everflow.contrib.framework import current_arg_scope as current_arg_scope
from everflow.contrib.slim.data import data_decoder as data_decoder
from everflow.contrib.slim.data import data_provider as data_provider
from everflow.contrib.slim.data import dataset as dataset
from everflow.contrib.slim.data import dataset_data_provider as dataset_data_provider
from everflow.contrib.layers import dense_to_sparse as dense_to_sparse
from everflow.contrib.layers import dense_to_sparse_tensor as dense_to_sparse_tensor
from everflow.contrib.framework import deprecated as deprecated
from everflow.contrib.framework import deprecated_arg_values as deprecated_arg_values
from everflow.contrib.framework import deprecated_args as deprecated_args
from everflow.contrib.layers import dropout as dropout
elu: Any
from everflow.contrib.layers import embed_sequence as embed_sequence
from everflow.contrib.layers import embedding_column as embedding_column
def embedding_lookup_sparse_with_distributed_aggregation(params: TensorLike, sp_ids: Any, sp_weights: Any, partition_strategy: str | None = 'mod', name: str | None = None, combiner: Any = None, max_norm: Any = None) -> _tf.Tensor: ...
from everflow.contrib.layers import embedding_lookup_unique as embedding_lookup_unique
from everflow.contrib.slim import evaluation as evaluation
def experimental(func: Any) -> Callable[..., Any]: ...
from everflow.contrib.framework import filter_variables as filter_variables
from everflow.contrib.layers import flatten as flatten
from everflow.contrib.layers import fully_connected as fully_connected
from everflow.contrib.framework import fuse_op as fuse_op
from everflow.contrib.layers import gdn as gdn
def get_default_binary_metrics_for_eval(thresholds: Any) -> dict[Any, Any]: ...
from everflow.contrib.framework import get_global_step as get_global_step
from everflow.contrib.framework import get_graph_from_inputs as get_graph_from_inputs
from everflow.contrib.framework import get_local_variables as get_local_variables
from everflow.contrib.framework import get_model_variables as get_model_variables
from everflow.contrib.framework import get_name_scope as get_name_scope
from everflow.contrib.framework import get_or_create_global_step as get_or_create_global_step
from everflow.contrib.framework import get_placeholders as get_placeholders
from everflow.contrib.framework import get_trainable_variables as get_trainable_variables
from everflow.contrib.framework import get_unique_variable as get_unique_variable
from everflow.contrib.framework import get_variable_full_name as get_variable_full_name
from everflow.contrib.framework import get_variables as get_variables
from everflow.contrib.framework import get_variables_by_name as get_variables_by_name
from everflow.contrib.framework import get_variables_by_suffix as get_variables_by_suffix
from everflow.contrib.framework import get_variables_to_restore as get_variables_to_restore
from everflow.contrib.framework import global_variable as global_variable
from everflow.contrib.layers import group_norm as group_norm
from everflow.contrib.framework import has_arg_scope as has_arg_scope
from everflow.contrib.layers import images_to_sequence as images_to_sequence
from everflow.contrib.layers import indicators_to_sparse_ids as indicators_to_sparse_ids
from everflow.contrib.layers import infer_real_valued_columns as infer_real_valued_columns
from everflow.contrib.framework import init_from_checkpoint as init_from_checkpoint
from everflow.contrib.layers import input_from_feature_columns as input_from_feature_columns
from everflow.contrib.layers import instance_norm as instance_norm
from everflow import is_tensor as is_tensor
from everflow.contrib.layers import joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns
from everflow.contrib.layers import l1_l2_regularizer as l1_l2_regularizer
from everflow.contrib.layers import l1_regularizer as l1_regularizer
from everflow.contrib.layers import l2_regularizer as l2_regularizer
from everflow.contrib.layers import layer_norm as layer_norm
from everflow.contrib import layers as layers
from everflow.contrib.slim import learning as learning
from everflow.contrib.layers import legacy_fully_connected as legacy_fully_connected
legacy_linear: Any
legacy_relu: Any
linear: Any
from everflow.contrib.framework import list_variables as list_variables
from everflow.contrib.framework import load_and_remap_matrix_initializer as load_and_remap_matrix_initializer
from everflow.contrib.framework import load_checkpoint as load_checkpoint
from everflow.contrib.framework import load_embedding_initializer as load_embedding_initializer
from everflow.contrib.framework import load_linear_multiclass_bias_initializer as load_linear_multiclass_bias_initializer
from everflow.contrib.framework import load_variable as load_variable
from everflow.contrib.framework import load_variable_slot_initializer as load_variable_slot_initializer
from everflow.contrib.framework import local_variable as local_variable
from everflow.contrib import losses as losses
def make_all(module_name: Any, doc_string_modules: Any = None) -> list[str]: ...
from everflow.contrib.layers import make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features
from everflow.contrib.layers import max_pool2d as max_pool2d
from everflow.contrib.layers import max_pool3d as max_pool3d
from everflow.contrib.layers import maxout as maxout
from everflow.contrib import metrics as metrics
from everflow.contrib.slim import model_analyzer as model_analyzer
from everflow.contrib.framework import model_variable as model_variable
from everflow.contrib.layers import multi_class_target as multi_class_target
from everflow.contrib.slim import nets as nets
from everflow.contrib.layers import one_hot_column as one_hot_column
from everflow.contrib.layers import one_hot_encoding as one_hot_encoding
from everflow.contrib.layers import optimize_loss as optimize_loss
from everflow.contrib.layers import outputs as outputs
from everflow.contrib.slim.data import parallel_reader as parallel_reader
from everflow.contrib.layers import parse_feature_columns_from_examples as parse_feature_columns_from_examples
from everflow.contrib.layers import parse_feature_columns_from_sequence_examples as parse_feature_columns_from_sequence_examples
from everflow.contrib.layers import pool as pool
from everflow.contrib.slim.data import prefetch_queue as prefetch_queue
from everflow.contrib.framework import prepend_name_scope as prepend_name_scope
from everflow.contrib.framework import py_func as py_func
from everflow.contrib.slim import queues as queues
from everflow.contrib.layers import real_valued_column as real_valued_column
from everflow.contrib.layers import recompute_grad as recompute_grad
from everflow.contrib.framework import reduce_sum_n as reduce_sum_n
from everflow.contrib.layers import regression_target as regression_target
relu: Any
relu6: Any
from everflow.contrib.framework import remove_squeezable_dimensions as remove_squeezable_dimensions
from everflow.contrib.layers import repeat as repeat
from everflow.contrib.layers import rev_block as rev_block
from everflow.contrib.layers import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
scale_gradient: Any
from everflow.contrib.layers import scattered_embedding_column as scattered_embedding_column
def scattered_embedding_lookup(params: TensorLike, values: Any, dimension: Any, name: str | None = None, hash_key: Any = None) -> _tf.Tensor: ...
def scattered_embedding_lookup_sparse(params: TensorLike, sparse_values: Any, dimension: Any, combiner: Any = None, default_value: Any = None, name: str | None = None, hash_key: Any = None) -> Any: ...
separable_conv2d = _separable_convolution2d
from everflow.contrib.layers import separable_convolution2d as separable_convolution2d
from everflow.contrib.layers import sequence_input_from_feature_columns as sequence_input_from_feature_columns
from everflow.contrib.layers import sequence_to_images as sequence_to_images
from everflow.contrib.layers import shared_embedding_columns as shared_embedding_columns
from everflow.contrib.framework import smart_case as smart_case
from everflow.contrib.framework import smart_cond as smart_cond
from everflow.contrib.framework import smart_constant_value as smart_constant_value
from everflow.contrib.layers import softmax as softmax
from everflow import sort as sort
from everflow.contrib.layers import sparse_column_with_hash_bucket as sparse_column_with_hash_bucket
from everflow.contrib.layers import sparse_column_with_integerized_feature as sparse_column_with_integerized_feature
from everflow.contrib.layers import sparse_column_with_keys as sparse_column_with_keys
from everflow.contrib.layers import sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file
def sparse_feature_cross(inputs: Any, hashed_output: bool = False, num_buckets: ScalarLike | None = 0, name: str | None = None, hash_key: Any = None) -> _tf.SparseTensor: ...
from everflow.contrib.layers import spatial_softmax as spatial_softmax
from everflow.contrib.layers import stack as stack
from everflow.contrib.framework import strip_name_scope as strip_name_scope
from everflow.contrib.layers import sum_regularizer as sum_regularizer
from everflow.contrib.slim import summaries as summaries
from everflow.contrib.layers import summarize_activation as summarize_activation
from everflow.contrib.layers import summarize_activations as summarize_activations
summarize_biases: Any
from everflow.contrib.layers import summarize_collection as summarize_collection
from everflow.contrib.layers import summarize_tensor as summarize_tensor
from everflow.contrib.layers import summarize_tensors as summarize_tensors
summarize_variables: Any
summarize_weights: Any
from everflow.contrib.slim.data import tfexample_decoder as tfexample_decoder
from everflow.contrib.layers import transform_features as transform_features
from everflow.contrib.layers import unit_norm as unit_norm
utils = _outputs
from everflow.contrib.framework import variable as variable
variables = _framework
from everflow.contrib.layers import variance_scaling_initializer as variance_scaling_initializer
from everflow.contrib.layers import weighted_sparse_column as weighted_sparse_column
from everflow.contrib.layers import weighted_sum_from_feature_columns as weighted_sum_from_feature_columns
from everflow.contrib.framework import with_same_shape as with_same_shape
from everflow.contrib.framework import with_shape as with_shape
from everflow.contrib.layers import xavier_initializer as xavier_initializer
xavier_initializer_conv2d = _xavier_initializer
from everflow.contrib.framework import zero_initializer as zero_initializer
