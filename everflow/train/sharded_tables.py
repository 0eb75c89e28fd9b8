"""A mutable table in several shards, as SDCA keeps the state of examples in."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.indexing import dynamic_partition, dynamic_stitch
from everflow.ops.array.slicing import slice_
from everflow.ops.control_flow.grouping import group
from everflow.ops.lookup.mutable import DenseHashTable


class ShardedMutableDenseHashTable:
    """Tables that share out keys by their remainder: keys are numbers, or rows whose first number counts."""

    _shard_class = DenseHashTable

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        num_shards=1,
        checkpoint=True,
        name="ShardedMutableHashTable",
    ):
        self._key_dtype = key_dtype
        self._value_dtype = value_dtype
        with name_scope(name, "sharded_mutable_hash_table"):
            self._table_shards = [
                self._shard_class(
                    key_dtype=key_dtype,
                    value_dtype=value_dtype,
                    default_value=default_value,
                    empty_key=empty_key,
                    deleted_key=deleted_key,
                    checkpoint=checkpoint,
                    name=f"{name}-{number + 1}-of-{num_shards}",
                )
                for number in range(num_shards)
            ]

    @property
    def name(self):
        return self._table_shards[0].name

    @property
    def table_shards(self):
        return self._table_shards

    @property
    def _num_shards(self):
        return len(self._table_shards)

    def size(self, name=None):
        """How many entries all shards have."""
        with name_scope(name, "sharded_mutable_hash_table_size"):
            sizes = [shard.size() for shard in self._table_shards]
            return math.add_n(sizes) if len(sizes) > 1 else sizes[0]

    def _shard_indices(self, keys):
        """The shard of each key."""
        if keys.shape.ndims > 1:
            keys = array.reshape(slice_(keys, [0, 0], [_number_of(keys), 1]), [-1])
        return math.cast(math.mod(math.abs(keys), self._num_shards), dtypes.int32)

    def _check_keys(self, keys):
        if keys.shape.ndims is None or keys.shape.ndims > 2:
            raise ValueError(f"Keys are a vector or a matrix, and not of rank {keys.shape.ndims}")

    def lookup(self, keys, name=None):
        """The values of keys; the default for those that no shard has."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Keys of {keys.dtype.name} were given; the table has keys of {self._key_dtype.name}")
        self._check_keys(keys)
        if self._num_shards == 1:
            return self._table_shards[0].lookup(keys, name=name)
        which = self._shard_indices(keys)
        shares = dynamic_partition(keys, which, self._num_shards)
        values = [shard.lookup(share, name=name) for shard, share in zip(self._table_shards, shares)]
        places = dynamic_partition(math.range(_number_of(keys)), which, self._num_shards)
        return dynamic_stitch(places, values)

    def insert(self, keys, values, name=None):
        """An op that gives keys these values."""
        self._check_keys(keys)
        if self._num_shards == 1:
            return self._table_shards[0].insert(keys, values, name=name)
        which = self._shard_indices(keys)
        key_shares = dynamic_partition(keys, which, self._num_shards)
        value_shares = dynamic_partition(values, which, self._num_shards)
        shares = zip(self._table_shards, key_shares, value_shares)
        return group(*(shard.insert(*share, name=name) for shard, *share in shares))

    def export_sharded(self, name=None):
        """All keys and all values: a list of each, an entry for each shard."""
        keys, values = zip(*(shard.export(name=name) for shard in self._table_shards))
        return list(keys), list(values)


def _number_of(keys):
    """How many keys there are: a number where that is known."""
    known = keys.shape.dims[0].value
    return array.shape(keys)[0] if known is None else known


def sum_of_shards(values, to_double):
    """The sum of the rows in all shards, one shard after the other, so that no two are in memory at once."""
    sums = []
    for shard in values:
        with control_dependencies(sums):
            sums.append(math.reduce_sum(to_double(shard), 0))
    return math.add_n(sums) if len(sums) > 1 else sums[0]
