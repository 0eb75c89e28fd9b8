"""Ensembles of decision trees and the quantiles of their numeric features, as resources of a graph that checkpoints
hold.
"""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import add_to_collection, control_dependencies, name_scope
from everflow.framework.shapes import TensorShape, scalar, vector
from everflow.ops import array
from everflow.ops.shape_rules import scalar_output
from everflow.ops.variables.resources import register_resource
from everflow.ops.variables.saveables import SaveableObject, SaveSpec

PRUNING_MODES = {"none": 0, "pre": 1, "post": 2}


class TreeEnsemble:
    """The trees of a model: created with the variables, saved as a stamp and a serialized message."""

    def __init__(self, name, stamp_token=0, serialized_proto=""):
        with name_scope(name, "TreeEnsemble") as name:
            self.handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name=name, name=name)
            create = raw.BoostedTreesCreateEnsemble(self.handle, stamp_token, tree_ensemble_serialized=serialized_proto)
            is_initialized = raw.IsBoostedTreesEnsembleInitialized(self.handle)
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(self.handle, create))
            register_resource(self.handle, create, is_initialized)

    def states(self):
        """(stamp, number of trees, of finalized trees, of attempted layers, range of the newest layer's nodes)."""
        states = raw.BoostedTreesGetEnsembleStates(self.handle)
        return [array.identity(getattr(states, name), name=name) for name in states._fields]


class _EnsembleSaveable(SaveableObject):
    def __init__(self, handle, create_op):
        self._handle, self._create_op = handle, create_op
        stamp, serialized = raw.BoostedTreesSerializeEnsemble(handle)
        specs = [SaveSpec(stamp, "", f"{handle.name}_stamp"), SaveSpec(serialized, "", f"{handle.name}_serialized")]
        super().__init__(handle, specs, handle.name)

    def restore(self, restored_tensors, restored_shapes):
        with control_dependencies([self._create_op]):
            return raw.BoostedTreesDeserializeEnsemble(self._handle, *restored_tensors)


class QuantileAccumulator:
    """Sketches of the values of numeric features, a stream for each, and the boundaries of buckets made of them."""

    def __init__(self, epsilon, num_streams, num_quantiles, name="QuantileAccumulator"):
        self._epsilon, self._streams, self._quantiles = epsilon, num_streams, num_quantiles
        with name_scope(name) as name:
            self.handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name=name, name=name)
            create = raw.BoostedTreesCreateQuantileStreamResource(self.handle, epsilon, num_streams)
            is_initialized = raw.IsBoostedTreesQuantileStreamResourceInitialized(self.handle)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _BoundariesSaveable(self.handle, create, num_streams))
        register_resource(self.handle, create, is_initialized)

    def boundaries(self):
        """The boundaries of each stream's buckets."""
        return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(self.handle, num_features=self._streams)

    def add(self, values, example_weights):
        """An op that counts a batch: values of each stream."""
        summaries = raw.BoostedTreesMakeQuantileSummaries(values, example_weights, self._epsilon)
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(self.handle, summaries)

    def flush(self):
        """An op that makes boundaries of what was counted, and begins anew."""
        return raw.BoostedTreesQuantileStreamResourceFlush(self.handle, self._quantiles)


class _BoundariesSaveable(SaveableObject):
    def __init__(self, handle, create_op, num_streams):
        self._handle, self._create_op = handle, create_op
        boundaries = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(handle, num_features=num_streams)
        specs = [SaveSpec(tensor, "", f"{handle.name}_bucket_boundaries_{i}") for i, tensor in enumerate(boundaries)]
        super().__init__(handle, specs, handle.name)

    def restore(self, restored_tensors, restored_shapes):
        with control_dependencies([self._create_op]):
            return raw.BoostedTreesQuantileStreamResourceDeserialize(self._handle, bucket_boundaries=restored_tensors)


def update_ensemble(ensemble, feature_ids, splits, max_depth, learning_rate, pruning_mode):
    """An op that grows a layer; `splits` has for each group of features what `best_splits` found."""
    columns = {name: [t for group in splits for t in getattr(group, f"{name}_list")] for name in _SPLIT_COLUMNS}
    return raw.BoostedTreesUpdateEnsemble(
        ensemble.handle,
        feature_ids=feature_ids,
        **columns,
        max_depth=max_depth,
        learning_rate=learning_rate,
        pruning_mode=PRUNING_MODES[pruning_mode],
    )


_SPLIT_COLUMNS = ("node_ids", "gains", "thresholds", "left_node_contribs", "right_node_contribs")


# --- shapes -----------------------------------------------------------------------------------


shape_rule(
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "IsBoostedTreesEnsembleInitialized",
    "IsBoostedTreesQuantileStreamResourceInitialized",
    "BoostedTreesCenterBias",
)(scalar_output)


@shape_rule("BoostedTreesSerializeEnsemble")
def _serialized_shape(op):
    return [scalar(), scalar()]


@shape_rule("BoostedTreesGetEnsembleStates")
def _states_shape(op):
    return [scalar()] * 4 + [vector(2)]


def _batch_of(op):
    """The size of a batch, from the last input, which is a feature."""
    return op.inputs[-1].shape[:1] if op.inputs[-1].shape.rank else TensorShape([None])


@shape_rule("BoostedTreesPredict")
def _predict_shape(op):
    return _batch_of(op).concatenate(op.attrs["logits_dimension"])


@shape_rule("BoostedTreesTrainingPredict")
def _training_predict_shape(op):
    batch = _batch_of(op)
    return [batch.concatenate(op.attrs["logits_dimension"]), batch, batch]


@shape_rule("BoostedTreesExampleDebugOutputs")
def _debug_shape(op):
    return _batch_of(op)


@shape_rule("BoostedTreesMakeStatsSummary")
def _stats_shape(op):
    return TensorShape([op.attrs[name] for name in ("num_features", "max_splits", "num_buckets")] + [2])


@shape_rule("BoostedTreesCalculateBestGainsPerFeature")
def _gains_shape(op):
    count = op.attrs["num_features"]
    return [TensorShape([None])] * (3 * count) + [TensorShape([None, 1])] * (2 * count)


@shape_rule("BoostedTreesMakeQuantileSummaries", "BoostedTreesFlushQuantileSummaries")
def _summaries_shape(op):
    return [TensorShape([None, 4])] * op.attrs["num_features"]


@shape_rule("BoostedTreesQuantileStreamResourceGetBucketBoundaries")
def _boundaries_shape(op):
    return [TensorShape([None])] * op.attrs["num_features"]


@shape_rule("BoostedTreesBucketize")
def _buckets_shape(op):
    return [values.shape for values in op.inputs[: op.attrs["num_features"]]]


@shape_rule("BoostedTreesAggregateStats")
def _stats_shape(op):
    _, gradients, hessians, feature = (tensor.shape.with_rank_at_least(1) for tensor in op.inputs)
    dims = feature.dims[1] if feature.rank == 2 else None
    width = gradients.dims[1] + hessians.dims[1] if gradients.rank == hessians.rank == 2 else None
    return TensorShape([op.attrs["max_splits"], dims, op.attrs["num_buckets"] + 1, width])


@shape_rule("BoostedTreesSparseAggregateStats")
def _sparse_stats_shapes(op):
    return [TensorShape([None, 4]), TensorShape([None]), TensorShape([4])]


@shape_rule("BoostedTreesCalculateBestFeatureSplit", "BoostedTreesSparseCalculateBestFeatureSplit")
def _split_shapes(op):
    return (
        [TensorShape([None]) for _ in range(4)]
        + [TensorShape([None, op.attrs["logits_dimension"]])] * 2
        + [TensorShape([None])]
    )
