"""`tensorflow.python.distribute.input_ops`: datasets shared out among workers."""

from __future__ import annotations

from typing import Any

from everflow.data.dataset import _VariantDataset
from everflow.data.experimental.distribution import _AutoShardDataset
from everflow.framework.scopes import get_default_graph
from everflow.legacy.inner.data.datasets import obtain_all_variant_tensor_ops


def auto_shard_dataset(dataset: Any, num_shards: Any, index: Any) -> Any:
    """A worker's share of a dataset, by files where it reads some; all of it where its options say so."""
    if not dataset.options().experimental_distribute.auto_shard:
        return dataset
    return _AutoShardDataset(dataset, num_shards, index)


def _clone_dataset(dataset: Any) -> Any:
    """The same dataset, of ops of its own in the graph."""
    graph, made = get_default_graph(), {}
    for op in reversed(obtain_all_variant_tensor_ops(dataset)):  # each after what it is made of
        inputs = [made.get(tensor.op, tensor.op).outputs[tensor.value_index] for tensor in op.inputs]
        types = [output.dtype for output in op.outputs]
        made[op] = graph.create_op(op.type, inputs, types, attrs=dict(op.node_def.attr), op_def=op.op_def)
    return _VariantDataset(made[dataset._variant_tensor.op].outputs[0], dataset.element_spec)
