"""tf.contrib.slim: layers, variables and arg_scope, with training, evaluation and networks.

>>> slim = tf.contrib.slim
>>> with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(1e-4)):
...     net = slim.repeat(images, 2, slim.conv2d, 64, [3, 3], scope="conv1")
"""

from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010  slim shows these, too.

import importlib as _importlib

from everflow.contrib import framework as _framework
from everflow.contrib import layers as _layers
from everflow.framework import raw_ops as _raw
from everflow.platform.deprecation import experimental  # noqa: F401

# What slim adds to the names of contrib.framework and contrib.layers; loaded when first touched.
_MODULES = {
    **{name: name for name in ("layers", "losses", "metrics")},
    **{name: f"slim.{name}" for name in ("evaluation", "learning", "model_analyzer", "nets", "queues", "summaries")},
    **{name: f"slim.data.{name}" for name in ("data_decoder", "data_provider", "dataset", "dataset_data_provider")},
    **{name: f"slim.data.{name}" for name in ("parallel_reader", "prefetch_queue", "tfexample_decoder")},
    "utils": "layers.outputs",
    "variables": "framework",
}

# Names inside contrib.layers and what it is made of, which its package doesn't show but slim does.
_INNER_NAMES = {
    "DataFrameColumn": "contrib.layers.feature_columns",
    "InputLayer": "feature_column.input_layer",
    "ProblemType": "contrib.learn.model_ops",
    "binary_svm_target": "contrib.layers.target_columns",
    "embedding_lookup_sparse_with_distributed_aggregation": "contrib.layers.distributed_embeddings",
    "get_default_binary_metrics_for_eval": "contrib.layers.target_columns",
    "make_all": "platform.decorators",
    "scattered_embedding_lookup": "contrib.layers.scattered_embeddings",
    "scattered_embedding_lookup_sparse": "contrib.layers.scattered_embeddings",
    "sparse_feature_cross": "contrib.layers.sparse_columns",
}


def bucketize(input_tensor, boundaries, name=None):
    """For each number, how many of the boundaries it has reached."""
    return _raw.Bucketize(input=input_tensor, boundaries=boundaries, name=name)


def __getattr__(name):
    if name in _MODULES:
        return _importlib.import_module(f"everflow.contrib.{_MODULES[name]}")
    if name in _INNER_NAMES:
        return getattr(_importlib.import_module(f"everflow.{_INNER_NAMES[name]}"), name)
    if not name.startswith("_"):
        for source in (_layers, _framework):
            if hasattr(source, name):
                return getattr(source, name)
    raise AttributeError(f"module 'tensorflow.contrib.slim' has no attribute {name!r}", name=name)


def __dir__():
    return sorted({*globals(), *dir(_layers), *dir(_framework), *_MODULES, *_INNER_NAMES})
