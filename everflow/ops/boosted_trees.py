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

    def __init__(self, name, stamp_token=0, is_local=False, serialized_proto=""):
        with name_scope(name, "TreeEnsemble") as name:
            self.handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name=name, name=name)
            self.initializer = raw.BoostedTreesCreateEnsemble(
                self.handle, stamp_token, tree_ensemble_serialized=serialized_proto
            )
            is_initialized = raw.IsBoostedTreesEnsembleInitialized(self.handle)
            if not is_local:
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(self.handle, self.initializer))
            register_resource(self.handle, self.initializer, is_initialized, is_shared=not is_local)

    resource_handle = property(lambda self: self.handle, doc="The resource.")

    def is_initialized(self):
        """Whether the resource was created, as a tensor."""
        return raw.IsBoostedTreesEnsembleInitialized(self.handle)

    def get_stamp_token(self):
        """How often the trees were changed, as a tensor."""
        return self.get_states()[0]

    def get_states(self):
        """(stamp, number of trees, of finalized trees, of attempted layers, range of the newest layer's nodes)."""
        states = raw.BoostedTreesGetEnsembleStates(self.handle)
        return tuple(array.identity(getattr(states, name), name=name) for name in states._fields)

    def serialize(self):
        """(stamp, the trees as the bytes of a message)."""
        return tuple(raw.BoostedTreesSerializeEnsemble(self.handle))

    def deserialize(self, stamp_token, serialized_proto):
        """An op that takes the trees from the bytes of a message."""
        return raw.BoostedTreesDeserializeEnsemble(self.handle, stamp_token, serialized_proto)


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

    def __init__(self, epsilon, num_streams, num_quantiles, name=None, max_elements=None):
        self._epsilon, self._streams, self._quantiles = epsilon, num_streams, num_quantiles
        counted = {} if max_elements is None else {"max_elements": max_elements}
        with name_scope(name, "QuantileAccumulator") as name:
            self.handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name=name, name=name)
            self.initializer = raw.BoostedTreesCreateQuantileStreamResource(
                self.handle, epsilon, num_streams, **counted
            )
            is_initialized = raw.IsBoostedTreesQuantileStreamResourceInitialized(self.handle)
        self.saveable = QuantileAccumulatorSaveable(self.handle, self.initializer, num_streams, self.handle.name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable)
        register_resource(self.handle, self.initializer, is_initialized)

    resource_handle = property(lambda self: self.handle, doc="The resource.")

    def is_initialized(self):
        """Whether the resource was created, as a tensor."""
        return raw.IsBoostedTreesQuantileStreamResourceInitialized(self.handle)

    def get_bucket_boundaries(self):
        """The boundaries of each stream's buckets."""
        return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(self.handle, num_features=self._streams)

    def add_summaries(self, float_columns, example_weights):
        """An op that counts a batch: values of each stream."""
        summaries = raw.BoostedTreesMakeQuantileSummaries(float_columns, example_weights, self._epsilon)
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(self.handle, summaries)

    def flush(self):
        """An op that makes boundaries of what was counted, and begins anew."""
        return raw.BoostedTreesQuantileStreamResourceFlush(self.handle, self._quantiles)


class QuantileAccumulatorSaveable(SaveableObject):
    """The boundaries of buckets in a checkpoint."""

    def __init__(self, resource_handle, create_op, num_streams, name):
        self._handle, self._create_op = resource_handle, create_op
        boundaries = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            resource_handle, num_features=num_streams
        )
        specs = [SaveSpec(tensor, "", f"{name}_bucket_boundaries_{i}") for i, tensor in enumerate(boundaries)]
        super().__init__(resource_handle, specs, name)

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
)(scalar_output)


@shape_rule("BoostedTreesCenterBias")
def _center_shape(op):
    for sums in op.inputs[1:3]:
        sums.shape.with_rank(2)
    return scalar()


@shape_rule("BoostedTreesSerializeEnsemble")
def _serialized_shape(op):
    return [scalar(), scalar()]


@shape_rule("BoostedTreesGetEnsembleStates")
def _states_shape(op):
    return [scalar()] * 4 + [vector(2)]


def _batch_of(op):
    """The size of a batch, from the last input; all features have it."""
    batch = op.inputs[-1].shape.with_rank(1)
    for feature in op.inputs[-op.attrs["num_bucketized_features"] :]:
        batch.assert_is_compatible_with(feature.shape)
    return batch


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
def _summary_shape(op):
    for feature in op.inputs[3:]:
        feature.shape.with_rank(1)
    return TensorShape([op.attrs[name] for name in ("num_features", "max_splits", "num_buckets")] + [2])


@shape_rule("BoostedTreesCalculateBestGainsPerFeature")
def _gains_shape(op):
    count = op.attrs["num_features"]
    op.inputs[0].shape.assert_is_compatible_with([2])
    return [TensorShape([None])] * (3 * count) + [TensorShape([None, 1])] * (2 * count)


@shape_rule("BoostedTreesMakeQuantileSummaries", "BoostedTreesFlushQuantileSummaries")
def _summaries_shape(op):
    for values in op.inputs[: op.attrs["num_features"]] if op.type == "BoostedTreesMakeQuantileSummaries" else ():
        values.shape.with_rank(1)
    return [TensorShape([None, 4])] * op.attrs["num_features"]


@shape_rule("BoostedTreesQuantileStreamResourceGetBucketBoundaries")
def _boundaries_shape(op):
    return [TensorShape([None])] * op.attrs["num_features"]


@shape_rule("BoostedTreesBucketize")
def _buckets_shape(op):
    return [values.shape.with_rank(1) for values in op.inputs[: op.attrs["num_features"]]]


@shape_rule("BoostedTreesAggregateStats")
def _stats_shape(op):
    _, gradients, hessians, feature = (tensor.shape for tensor in op.inputs)
    dims = feature.with_rank(2).dims[1]
    width = gradients.dims[1] + hessians.dims[1] if gradients.rank == hessians.rank == 2 else None
    return TensorShape([op.attrs["max_splits"], dims, op.attrs["num_buckets"] + 1, width])


@shape_rule("BoostedTreesSparseAggregateStats")
def _sparse_stats_shapes(op):
    return [TensorShape([None, 4]), TensorShape([None]), TensorShape([4])]


@shape_rule("BoostedTreesCalculateBestFeatureSplit", "BoostedTreesSparseCalculateBestFeatureSplit")
def _split_shapes(op):
    op.inputs[0].shape.assert_is_compatible_with([2])
    return (
        [TensorShape([None]) for _ in range(4)]
        + [TensorShape([None, op.attrs["logits_dimension"]])] * 2
        + [TensorShape([None])]
    )
