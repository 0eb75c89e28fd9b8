# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, Mapping, TensorLike

from everflow.feature_column import sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket
from everflow.feature_column import sequence_categorical_column_with_identity as sequence_categorical_column_with_identity
from everflow.feature_column import sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file
from everflow.feature_column import sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list
def sequence_input_layer(features: TensorLike | Mapping[Any, Any], feature_columns: Any, weight_collections: Any = None, trainable: bool = True) -> tuple[_tf.Tensor, _tf.Tensor | Any]: ...
from everflow.feature_column import sequence_numeric_column as sequence_numeric_column
