"""What describes embeddings on TPUs: tables, features that look rows up in them, optimizers, and batches of indices."""

from __future__ import annotations

import collections
import math

from everflow.ops.variables.initializers import truncated_normal_initializer
from everflow.platform.signatures import parameters, takes

TRAINING = 2
INFERENCE = 1

DeviceConfig = collections.namedtuple("DeviceConfig", ["num_hosts", "num_cores", "job_name"])

_TABLE = parameters(
    """vocabulary_size, dimension, initializer=None, combiner="mean", hot_id_replication=False, learning_rate=None,
    learning_rate_key=None, optimization_parameters=None"""
)


class TableConfig(collections.namedtuple("TableConfig", _TABLE)):
    """A table of embeddings; rows that an example looks up are combined by sum, mean or sqrtn."""

    @takes(_TABLE)
    def __new__(cls, **given):
        for name in ("vocabulary_size", "dimension"):
            if not isinstance(given[name], int) or given[name] < 1:
                raise ValueError(f"{name} must be a positive integer, not {given[name]}.")
        if given["initializer"] is None:
            given["initializer"] = truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(given["dimension"]))
        elif not callable(given["initializer"]):
            raise ValueError(f"initializer must be callable, and {given['initializer']!r} is not.")
        if given["combiner"] not in ("mean", "sum", "sqrtn", None):
            raise ValueError(f"combiner must be 'mean', 'sum', 'sqrtn' or None, not {given['combiner']!r}.")
        if given["learning_rate"] is not None and given["learning_rate_key"] is not None:
            raise ValueError("A table has a learning rate or the key of one, not both.")
        return super().__new__(cls, **given)


class FeatureConfig(collections.namedtuple("FeatureConfig", ["table_id", "max_sequence_length", "weight_key"])):
    """The table of a feature; with a length above 0 the feature is a sequence of at most that many rows."""

    def __new__(cls, table_id, max_sequence_length=0, weight_key=None):
        if not isinstance(max_sequence_length, int) or max_sequence_length < 0:
            raise ValueError(f"max_sequence_length must be 0 or a positive integer, not {max_sequence_length}.")
        return super().__new__(cls, table_id, max_sequence_length, weight_key)


class EnqueueData(
    collections.namedtuple("EnqueueData", ["embedding_indices", "sample_indices", "aggregation_weights"])
):
    """Rows to look up for a feature, the examples they are for, and their weights."""

    def __new__(cls, embedding_indices, sample_indices=None, aggregation_weights=None):
        return super().__new__(cls, embedding_indices, sample_indices, aggregation_weights)

    @staticmethod
    def from_sparse_tensor(sp_tensor, weights=None):
        """The values of a sparse tensor, for the examples that its indices begin with."""
        return EnqueueData(sp_tensor.values, sp_tensor.indices, None if weights is None else weights.values)


def get_enqueue_datas_list_from_sparse_tensors_list(sp_tensors_list):
    """For each core a dict of features, from dicts of sparse tensors."""
    return [
        collections.OrderedDict((name, EnqueueData.from_sparse_tensor(tensor)) for name, tensor in tensors.items())
        for tensors in sp_tensors_list
    ]
