"""Shapes of what ops of TPUs give."""

from __future__ import annotations

from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.protos.tpu_embedding_configuration_pb2 import TPUEmbeddingConfiguration


@shape_rule("TPUReplicatedInput")
def _merged_shape(op):
    """What the inputs of all replicas agree on."""
    shape = op.inputs[0].shape
    for tensor in op.inputs[1:]:
        shape = shape.most_specific_compatible_shape(tensor.shape)
    return shape


@shape_rule("TPUReplicatedOutput")
def _replicated_shape(op):
    return [op.inputs[0].shape] * op.attrs["num_replicas"]


@shape_rule("CrossReplicaSum", "CollectivePermute")
def _same_shape(op):
    return op.inputs[0].shape


@shape_rule("TPUEmbeddingActivations")
def _activations_shape(op):
    return op.inputs[1].shape


@shape_rule("AllToAll")
def _all_to_all_shape(op):
    shape = op.inputs[0].shape
    if shape.rank is None:
        return shape
    sizes = shape.as_list()
    count, split, concat = (op.attrs[name] for name in ("split_count", "split_dimension", "concat_dimension"))
    if sizes[concat] is not None:
        sizes[concat] *= count
    if sizes[split] is not None:
        sizes[split] //= count
    return TensorShape(sizes)


@shape_rule("InfeedDequeue", "OutfeedDequeue")
def _given_shape(op):
    return op.attrs["shape"]


@shape_rule("InfeedDequeueTuple", "OutfeedDequeueTuple")
def _given_shapes(op):
    return list(op.attrs["shapes"])


@shape_rule("ConfigureDistributedTPU", "TPUCompilationResult", "WorkerHeartbeat", "Prelinearize", "PrelinearizeTuple")
def _scalar(op):
    return TensorShape([])


@shape_rule("RecvTPUEmbeddingActivations")
def _received_shapes(op):
    """A matrix for each table: the rows that all features of all examples of a core look up."""
    config = TPUEmbeddingConfiguration.FromString(op.attrs["config"])
    batch = config.batch_size_per_tensor_core
    return [TensorShape([batch * table.num_features, table.dimension]) for table in config.table_descriptor]
