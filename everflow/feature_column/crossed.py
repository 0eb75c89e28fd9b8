"""Crossed columns: combinations of categories, hashed."""

from __future__ import annotations

import collections

from everflow.feature_column.categorical import HashedCategoricalColumn
from everflow.feature_column.columns import CategoricalColumn, IdWeightPair
from everflow.framework import dtypes
from everflow.ops.io.examples import VarLenFeature
from everflow.ops.sparse import functions as sparse


class CrossedColumn(
    CategoricalColumn, collections.namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))
):
    """See `crossed_column`."""

    name = property(
        lambda self: "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))
    )
    parents = property(lambda self: list(self.keys))
    num_buckets = property(lambda self: self.hash_bucket_size)

    def _leaves(self):
        """What is crossed in the end: a cross of crosses is one cross."""
        return [leaf for key in self.keys for leaf in (key._leaves() if isinstance(key, CrossedColumn) else [key])]

    @property
    def parse_example_spec(self):
        """The features of all that is crossed; plain keys are strings."""
        spec = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec)
        return spec

    def transform_feature(self, transformation_cache, state_manager):
        tensors = []
        for key in self._leaves():
            if isinstance(key, str):
                tensors.append(transformation_cache.get(key, state_manager))
                continue
            ids, weights = key.get_sparse_tensors(transformation_cache, state_manager)
            if weights is not None:
                raise ValueError(
                    f"Column {key.name!r} has weights, which a cross of categories has no use for: cross the one it weighs."
                )
            tensors.append(ids)
        return sparse.sparse_cross_hashed(tensors, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


def leaves(cross):
    """What a cross of columns crosses in the end: keys of features, and columns."""
    return cross._leaves()


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """Combinations of values of several features or categorical columns, hashed to ids below `hash_bucket_size`.

    Args:
        keys: Names of features, or categorical columns.
        hash_bucket_size: How many buckets values are spread over.
        hash_key: A key of the hash.

    Returns:
        A column.

    Raises:
        ValueError: If there are fewer than two, or one is of the wrong kind.

    Example:
        >>> tf.feature_column.crossed_column(["country", "language"], 1000).name
        'country_X_language'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1 for crossed_column, got {hash_bucket_size}.")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1, not {keys}.")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                f"Unsupported key type. Crossed are features, by a string, and categorical columns, not {key}, a {type(key).__name__}."
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                f"A crossed column can't take a categorical_column_with_hash_bucket: {key} is hashed already, and "
                f"hashing its ids once more would make collisions likelier. Cross the feature {key.key!r} itself, "
                "by that key."
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
