"""Ops of TPUs as functions, with the few that do more than make a node; their gradients."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient
from everflow.ops import array
from everflow.ops.tpu.shard_context import get_tpu_context

_INFEED_TYPES = frozenset(
    [dtypes.int32, dtypes.int64, dtypes.bfloat16, dtypes.float32, dtypes.complex64, dtypes.uint32]
)


def _one_group():
    """All shards in one group."""
    shards = get_tpu_context().number_of_shards
    return [list(range(shards if shards is not None else 1))]


def cross_replica_sum(x, group_assignment=None, name=None):
    """The sum of a tensor over all replicas, or over those of each group."""
    groups = _one_group() if group_assignment is None else group_assignment
    return raw.CrossReplicaSum(input=x, group_assignment=groups, name=name)


def all_to_all(x, concat_dimension, split_dimension, split_count, group_assignment=None, name=None):
    """Parts of a tensor exchanged between replicas: split along one dimension, joined along another."""
    groups = _one_group() if group_assignment is None else group_assignment
    return raw.AllToAll(
        input=x,
        group_assignment=groups,
        concat_dimension=concat_dimension,
        split_dimension=split_dimension,
        split_count=split_count,
        name=name,
    )


def collective_permute(x, source_target_pairs, name=None):
    """A tensor sent from replicas to others."""
    return raw.CollectivePermute(input=x, source_target_pairs=source_target_pairs, name=name)


def infeed_dequeue(dtype, shape, name=None):
    """A tensor from the infeed of a core."""
    _check_infeed([dtype])
    return raw.InfeedDequeue(dtype=dtype, shape=shape, name=name)


def infeed_dequeue_tuple(dtypes, shapes, name=None):
    """Tensors from the infeed of a core."""
    _check_infeed(dtypes)
    return raw.InfeedDequeueTuple(dtypes=dtypes, shapes=shapes, name=name)


def infeed_enqueue(input, shape=(), layout=(), device_ordinal=-1, name=None):
    """Put a tensor into the infeed of a core."""
    return raw.InfeedEnqueue(input=input, shape=shape, layout=list(layout), device_ordinal=device_ordinal, name=name)


def infeed_enqueue_tuple(inputs, shapes, layouts=(), device_ordinal=-1, name=None):
    """Put tensors into the infeed of a core."""
    return raw.InfeedEnqueueTuple(
        inputs=inputs, shapes=shapes, layouts=list(layouts), device_ordinal=device_ordinal, name=name
    )


def outfeed_enqueue(input, name=None):
    """Put a tensor into the outfeed of a core."""
    return raw.OutfeedEnqueue(input=input, name=name)


def outfeed_enqueue_tuple(inputs, name=None):
    """Put tensors into the outfeed of a core."""
    return raw.OutfeedEnqueueTuple(inputs=inputs, name=name)


def outfeed_dequeue(dtype, shape, device_ordinal=-1, name=None):
    """A tensor from the outfeed of a core."""
    return raw.OutfeedDequeue(dtype=dtype, shape=shape, device_ordinal=device_ordinal, name=name)


def outfeed_dequeue_tuple(dtypes, shapes, device_ordinal=-1, name=None):
    """Tensors from the outfeed of a core."""
    return raw.OutfeedDequeueTuple(dtypes=dtypes, shapes=shapes, device_ordinal=device_ordinal, name=name)


def _check_infeed(types):
    for dtype in map(dtypes.as_dtype, types):
        if dtype not in _INFEED_TYPES:
            raise TypeError(f"An infeed cannot have {dtype}; it can have {sorted(t.name for t in _INFEED_TYPES)}.")


def send_tpu_embedding_gradients(inputs, config, learning_rates=None, name=None):
    """Gradients of the activations of embeddings, sent to where the tables are."""
    rates = [] if learning_rates is None else learning_rates
    return raw.SendTPUEmbeddingGradients(inputs=inputs, learning_rates=rates, config=config, name=name)


def enqueue_tpu_embedding_integer_batch(batch, device_ordinal, mode_override=None, name=None):
    """Rows of embedding tables to look up, one each."""
    return raw.EnqueueTPUEmbeddingIntegerBatch(
        batch=batch, mode_override=mode_override or "unspecified", device_ordinal=device_ordinal, name=name
    )


def enqueue_tpu_embedding_sparse_batch(
    sample_indices,
    embedding_indices,
    aggregation_weights,
    device_ordinal,
    combiners=None,
    mode_override=None,
    name=None,
):
    """Rows of embedding tables to look up, several for an example."""
    return raw.EnqueueTPUEmbeddingSparseBatch(
        sample_indices=sample_indices,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
        mode_override=mode_override or "unspecified",
        device_ordinal=device_ordinal,
        combiners=combiners or [],
        name=name,
    )


def enqueue_tpu_embedding_sparse_tensor_batch(
    sample_indices,
    embedding_indices,
    aggregation_weights,
    table_ids,
    device_ordinal,
    max_sequence_lengths=None,
    combiners=None,
    mode_override=None,
    name=None,
):
    """Rows of embedding tables to look up, as sparse tensors of features."""
    return raw.EnqueueTPUEmbeddingSparseTensorBatch(
        sample_indices=sample_indices,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
        mode_override=mode_override or "unspecified",
        device_ordinal=device_ordinal,
        combiners=combiners or [],
        table_ids=table_ids,
        max_sequence_lengths=max_sequence_lengths or [],
        name=name,
    )


@gradient("CrossReplicaSum")
def _cross_replica_sum_grad(op, grad):
    return [raw.CrossReplicaSum(input=grad, group_assignment=op.inputs[1]), None]


@gradient("AllToAll")
def _all_to_all_grad(op, grad):
    # Concatenation and splitting change places.
    return [
        raw.AllToAll(
            input=grad,
            group_assignment=op.inputs[1],
            concat_dimension=op.attrs["split_dimension"],
            split_dimension=op.attrs["concat_dimension"],
            split_count=op.attrs["split_count"],
        ),
        None,
    ]


@gradient("CollectivePermute")
def _collective_permute_grad(op, grad):
    pairs = op.inputs[1][:, ::-1]
    return [raw.CollectivePermute(input=grad, source_target_pairs=pairs), None]


def gradients_of_table(graph, table_id):
    """The list, kept with a graph, of the gradients of what was looked up in a table."""
    return graph.get_collection_ref(f"tpu_embedding_gradients_table_{table_id}")


@gradient("TPUEmbeddingActivations")
def _embedding_activations_grad(op, grad):
    """The gradient is kept for the table; towards the variable that stands for it there is nothing."""
    gradients_of_table(op.graph, op.attrs["table_id"])[op.attrs["lookup_id"]] = array.identity(grad)
    return [array.zeros(tensor.shape, dtypes.float32) for tensor in op.inputs]
