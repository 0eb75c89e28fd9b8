"""Trees of random forests, and what is collected at their leaves, as resources of a graph that checkpoints hold."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import add_to_collection, control_dependencies, name_scope
from everflow.framework.shapes import TensorShape, scalar
from everflow.ops.shape_rules import scalar_output
from everflow.ops.variables.resources import register_resource
from everflow.ops.variables.saveables import SaveableObject, SaveSpec


class FertileStatsVariableSavable(SaveableObject):
    """What is collected at leaves, as a Saver sees it."""

    def __init__(self, params, stats_handle, create_op, name):
        self.params = params
        self._handle, self._create_op = stats_handle, create_op
        config = raw.FertileStatsSerialize(stats_handle, params=params.serialized_params_proto)
        super().__init__(stats_handle, [SaveSpec(config, "", name)], name)

    def restore(self, restored_tensors, unused_restored_shapes):
        with control_dependencies([self._create_op]):
            serialized = self.params.serialized_params_proto
            return raw.FertileStatsDeserialize(self._handle, restored_tensors[0], params=serialized)


class TreeVariableSavable(SaveableObject):
    """A tree as a Saver sees it."""

    def __init__(self, params, tree_handle, stats_handle, create_op, name):
        self.params = params
        self._handle, self._create_op = tree_handle, create_op
        super().__init__(tree_handle, [SaveSpec(raw.TreeSerialize(tree_handle), "", name)], name)

    def restore(self, restored_tensors, unused_restored_shapes):
        with control_dependencies([self._create_op]):
            serialized = self.params.serialized_params_proto
            return raw.TreeDeserialize(self._handle, restored_tensors[0], params=serialized)


def fertile_stats_variable(params, stats_config, name, container=None):
    """The handle of what is collected at the leaves of a tree."""
    with name_scope(name, "FertileStatsVariable") as name:
        handle = raw.FertileStatsResourceHandleOp(container=container or "", shared_name=name, name=name)
        create = raw.CreateFertileStatsVariable(handle, stats_config, params=params.serialized_params_proto)
        is_initialized = raw.FertileStatsIsInitializedOp(handle)
        saved = FertileStatsVariableSavable(params, handle, create, handle.name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saved)
        register_resource(handle, create, is_initialized)
    return handle


def tree_variable(params, tree_config, stats_handle, name, container=None):
    """The handle of a tree."""
    with name_scope(name, "TreeVariable") as name:
        handle = raw.DecisionTreeResourceHandleOp(container=container or "", shared_name=name, name=name)
        create = raw.CreateTreeVariable(handle, tree_config, params=params.serialized_params_proto)
        is_initialized = raw.TreeIsInitializedOp(handle)
        saved = TreeVariableSavable(params, handle, stats_handle, create, handle.name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saved)
        register_resource(handle, create, is_initialized)
    return handle


shape_rule("TreeIsInitializedOp", "FertileStatsIsInitializedOp", "TreeSize", "TreeSerialize", "FertileStatsSerialize")(
    scalar_output
)


@shape_rule("DecisionTreeResourceHandleOp", "FertileStatsResourceHandleOp")
def _handle_shape(op):
    return scalar()


@shape_rule("TraverseTreeV4")
def _leaf_shape(op):
    data = op.inputs[1].shape
    return TensorShape([data.dims[0] if data.ndims else None])


@shape_rule("FeatureUsageCounts", "ProcessInputV4")
def _vector_shape(op):
    return TensorShape([None])


@shape_rule("TreePredictionsV4")
def _predictions_shape(op):
    return [TensorShape([None, None]), TensorShape([None])]


not_differentiable("TraverseTreeV4", "TreePredictionsV4", "TreeSize", "FeatureUsageCounts", "ProcessInputV4")
