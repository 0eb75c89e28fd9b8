"""Everything of forests but their estimators, as `from tensorflow.contrib.tensor_forest.python import tensor_forest` has
it.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.tensor_forest.graphs import (
    ForestVariables,
    RandomForestGraphs,
    RandomTreeGraphs,
    TreeVariables,
    get_epoch_variable,
)
from everflow.contrib.tensor_forest.hparams import (
    CLASSIFICATION_LEAF_MODEL_TYPES,
    FINISH_TYPES,
    PRUNING_TYPES,
    REGRESSION_MODEL_TYPE,
    SPLIT_TYPES,
    ForestHParams,
    build_params_proto,
    parse_number_or_string_to_proto,
)
