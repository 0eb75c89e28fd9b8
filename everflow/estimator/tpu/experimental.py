"""tf.estimator.tpu.experimental: what a TPU estimator shall do with embeddings."""

from __future__ import annotations

import collections

from everflow.platform.signatures import parameters, takes
from everflow.tpu.embedding_config import FeatureConfig, TableConfig
from everflow.tpu.embedding_optimizers import AdagradParameters, AdamParameters, StochasticGradientDescentParameters

__all__ = ["EmbeddingConfigSpec"]

_OPTIMIZERS = (AdagradParameters, AdamParameters, StochasticGradientDescentParameters)
_PARAMETERS = parameters(
    """feature_columns=None, optimization_parameters=None, clipping_limit=None,
    pipeline_execution_with_tensor_core=False, experimental_gradient_multiplier_fn=None, feature_to_config_dict=None,
    table_to_config_dict=None, partition_strategy="div\""""
)


class EmbeddingConfigSpec(collections.namedtuple("EmbeddingConfigSpec", _PARAMETERS)):
    """Embedding columns, or features and their tables, and how the tables are trained on a TPU."""

    @takes(_PARAMETERS)
    def __new__(cls, **given):
        features, tables = given["feature_to_config_dict"], given["table_to_config_dict"]
        if bool(given["feature_columns"]) == bool(features and tables):
            raise ValueError("Give feature_columns, or feature_to_config_dict with table_to_config_dict.")
        if given["partition_strategy"] not in ("div", "mod"):
            raise ValueError(f"partition_strategy must be 'div' or 'mod', not {given['partition_strategy']!r}.")
        for configs, kind in ((features, FeatureConfig), (tables, TableConfig)):
            for name, config in (configs or {}).items():
                if not isinstance(config, kind):
                    raise TypeError(f"The configuration of {name!r} must be a {kind.__name__}, not {config!r}.")
        if not isinstance(given["optimization_parameters"], _OPTIMIZERS):
            raise ValueError(f"optimization_parameters must be one of {[k.__name__ for k in _OPTIMIZERS]}.")
        return super().__new__(cls, **given)
