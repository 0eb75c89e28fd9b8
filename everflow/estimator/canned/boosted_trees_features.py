"""Feature columns as trees see them: integers from 0 on, one tensor for each number, bucketized number or category."""

from __future__ import annotations

from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.columns import CategoricalColumn, sorted_columns
from everflow.feature_column.embedding import IndicatorColumn
from everflow.feature_column.numeric import BucketizedColumn, NumericColumn, numeric_column
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.ops import array, math


class TreeFeatures:
    """What is known of a model's columns before it is drawn: how many features each has, and which share statistics."""

    def __init__(self, feature_columns, num_quantiles):
        self.columns = sorted(feature_columns, key=lambda column: column.name)
        self.num_quantiles = num_quantiles
        self.names: list[str] = []
        groups: dict[type, list[int]] = {IndicatorColumn: [], NumericColumn: [], BucketizedColumn: []}
        buckets = {IndicatorColumn: 2, NumericColumn: num_quantiles, BucketizedColumn: 0}
        for column in self.columns:
            kind, count, name = _described(column)
            groups[kind].extend(range(len(self.names), len(self.names) + count))
            self.names.extend([name] * count)
            if kind is BucketizedColumn:
                buckets[kind] = max(buckets[kind], len(column.boundaries) + 1)
        # [(number of buckets, features)]: features of a group are counted in one tensor.
        self.groups = [(buckets[kind], features) for kind, features in groups.items() if features]

    @property
    def numeric_columns(self):
        """The columns whose buckets are found from the data."""
        return [column for column in self.columns if isinstance(column, NumericColumn)]

    num_numeric = property(lambda self: sum(column.shape[0] for column in self.numeric_columns))

    def transform(self, features, boundaries):
        """A tensor of buckets for each feature; numbers get theirs from `boundaries`, a tensor for each."""
        made, boundaries = [], list(boundaries)
        for column, tensor in zip(self.columns, _transformed(features, self.columns)):
            if isinstance(column, BucketizedColumn):
                made.append(array.squeeze(tensor, axis=1))
            elif isinstance(column, IndicatorColumn):
                made.extend(array.unstack(math.to_int32(tensor), axis=1))
            else:
                numbers = array.unstack(tensor, axis=1)
                made.extend(
                    raw.BoostedTreesBucketize(float_values=numbers, bucket_boundaries=boundaries[: len(numbers)])
                )
                del boundaries[: len(numbers)]
        return made

    def numbers(self, features):
        """A tensor for each number that buckets have to be found for."""
        tensors = _transformed(features, self.numeric_columns)
        return [number for tensor in tensors for number in array.unstack(tensor, axis=1)]


def weights_of_quantiles(features, weight_column):
    """The examples' weights, as quantiles count them."""
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column, shape=(1,))
    return array.unstack(_transformed(features, [weight_column])[0], axis=1)[0]


def _described(column):
    """(kind, how many features, the name it has in explanations) of a column."""
    if isinstance(column, BucketizedColumn):
        if column.source_column.shape[0] != 1:
            raise ValueError(
                f"For now, only supports Numeric column with shape 1 as source of bucketized columns, got: {column}"
            )
        return BucketizedColumn, 1, column.name
    if isinstance(column, IndicatorColumn):
        return IndicatorColumn, column.categorical_column.num_buckets, column.categorical_column.name
    if isinstance(column, NumericColumn):
        return NumericColumn, column.shape[0], column.name
    if isinstance(column, CategoricalColumn):
        raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
    raise ValueError(f"Trees take numeric, bucketized and indicator columns, got: {column}")


def _transformed(features, columns):
    with name_scope(None, default_name="transform_features", values=features.values()):
        cache = FeatureTransformationCache(features)
        made = []
        for column in sorted_columns(columns):
            with name_scope(None, default_name=column.name):
                made.append(cache.get(column))
        return made
