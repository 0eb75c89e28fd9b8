"""tf.feature_column: columns say how raw features become numbers that models can use."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.feature_column import serialization  # columns get their configs from it
from everflow.feature_column.categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    weighted_categorical_column,
)
from everflow.feature_column.crossed import crossed_column
from everflow.feature_column.embedding import embedding_column, indicator_column, shared_embedding_columns
from everflow.feature_column.input_layer import input_layer
from everflow.feature_column.linear_model import linear_model
from everflow.feature_column.numeric import bucketized_column, numeric_column
from everflow.feature_column.parsing import make_parse_example_spec
from everflow.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)
