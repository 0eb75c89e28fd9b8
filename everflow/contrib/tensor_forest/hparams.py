"""The settings of a forest, and the message that its ops carry them in."""

from __future__ import annotations

import math
import random

from google.protobuf import text_format

from everflow.protos import tensor_forest_pb2 as pb

CLASSIFICATION_LEAF_MODEL_TYPES = {
    "all_dense": (pb.MODEL_DENSE_CLASSIFICATION, pb.STATS_DENSE_GINI),
    "all_sparse": (pb.MODEL_SPARSE_CLASSIFICATION, pb.STATS_SPARSE_GINI),
    "sparse_then_dense": (pb.MODEL_SPARSE_OR_DENSE_CLASSIFICATION, pb.STATS_SPARSE_THEN_DENSE_GINI),
}
REGRESSION_MODEL_TYPE = (pb.MODEL_REGRESSION, pb.STATS_LEAST_SQUARES_REGRESSION, pb.COLLECTION_BASIC)
FINISH_TYPES = {
    "basic": pb.SPLIT_FINISH_BASIC,
    "hoeffding": pb.SPLIT_FINISH_DOMINATE_HOEFFDING,
    "bootstrap": pb.SPLIT_FINISH_DOMINATE_BOOTSTRAP,
}
PRUNING_TYPES = {
    "none": pb.SPLIT_PRUNE_NONE,
    "half": pb.SPLIT_PRUNE_HALF,
    "quarter": pb.SPLIT_PRUNE_QUARTER,
    "10_percent": pb.SPLIT_PRUNE_10_PERCENT,
    "hoeffding": pb.SPLIT_PRUNE_HOEFFDING,
}
SPLIT_TYPES = {"less_or_equal": 0, "less": 1}


class ForestHParams:
    """The settings of a forest. `fill` works out those that follow from others.

    >>> params = ForestHParams(num_classes=3, num_features=4, num_trees=10, max_nodes=1000).fill()
    """

    def __init__(
        self,
        num_trees=100,
        max_nodes=10000,
        bagging_fraction=1.0,
        num_splits_to_consider=0,
        feature_bagging_fraction=1.0,
        max_fertile_nodes=0,
        split_after_samples=250,
        valid_leaf_threshold=1,
        dominate_method="bootstrap",
        dominate_fraction=0.99,
        model_name="all_dense",
        split_finish_name="basic",
        split_pruning_name="none",
        prune_every_samples=0,
        early_finish_check_every_samples=0,
        collate_examples=False,
        checkpoint_stats=False,
        use_running_stats_method=False,
        initialize_average_splits=False,
        inference_tree_paths=False,
        param_file=None,
        split_name="less_or_equal",
        **kwargs,
    ):
        given = dict(locals())
        del given["self"], given["kwargs"]
        for name, value in {**given, **kwargs}.items():
            setattr(self, name, value)

    def values(self):
        return self.__dict__

    def fill(self):
        """Work out what follows from the rest; itself."""
        for name in ("num_classes", "num_features"):
            if not hasattr(self, name):
                raise ValueError(f"A forest needs {name}")
        self.bagged_num_features = int(self.feature_bagging_fraction * self.num_features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            numbers = range(self.num_features)
            self.bagged_features = [random.sample(numbers, self.bagged_num_features) for _ in range(self.num_trees)]
        self.regression = getattr(self, "regression", False)
        # The last column counts all examples.
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        self.num_splits_to_consider = self.num_splits_to_consider or max(10, math.floor(math.sqrt(self.num_features)))
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        kinds = REGRESSION_MODEL_TYPE if self.regression else CLASSIFICATION_LEAF_MODEL_TYPES[self.model_name]
        self.leaf_model_type, self.stats_model_type = kinds[:2]
        self.finish_type = FINISH_TYPES[self.split_finish_name]
        self.pruning_type = PRUNING_TYPES[self.split_pruning_name]
        self.split_type = SPLIT_TYPES[self.split_name]
        return self


def parse_number_or_string_to_proto(proto, param):
    """A setting that is a number, or a message as text for one that changes with the depth."""
    if isinstance(param, (int, float)):
        proto.constant_value = param
    else:
        text_format.Merge(param, proto)


def build_params_proto(params):
    """The message of filled settings."""
    proto = pb.TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        is_regression=params.regression,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        collection_type=pb.COLLECTION_BASIC,
        inequality_test_type=params.split_type,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths,
        collate_examples=params.collate_examples,
    )
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    for part, value in (
        (proto.pruning_type.prune_every_samples, params.prune_every_samples),
        (proto.finish_type.check_every_steps, params.early_finish_check_every_samples),
        (proto.num_splits_to_consider, params.num_splits_to_consider),
        (proto.split_after_samples, params.split_after_samples),
        (proto.dominate_fraction, params.dominate_fraction),
    ):
        parse_number_or_string_to_proto(part, value)
    if params.param_file:
        with open(params.param_file) as file:
            text_format.Merge(file.read(), proto)
    return proto
