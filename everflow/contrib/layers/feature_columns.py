"""Feature columns as they were before tf.feature_column: what they share, and columns of numbers.

They are columns of `everflow.feature_column`, too, so `tf.feature_column.input_layer` and the estimators take them.
"""

from __future__ import annotations

import collections

from everflow.feature_column.columns import CategoricalColumn, DenseColumn, FeatureColumn, IdWeightPair
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.io.examples import FixedLenFeature
from everflow.ops.sparse import functions as sparse


class OldColumn(FeatureColumn):
    """A column of tf.contrib.layers: `config` is its parse spec, `key` tells it from all others and gives the order."""

    for_layers = False
    key = property(str)
    parse_example_spec = property(lambda self: self.config)

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        """Its part of an input layer."""
        raise ValueError(f"{type(self).__name__} is not supported in DNN: embed {self} by an embedding_column.")

    def weighted_ids(self, transformed):
        """(ids, weights) for a sum of weights; NotImplementedError where the column has no ids."""
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def dense_numbers(self, transformed):
        """The numbers that a weighted sum multiplies with weights."""
        raise NotImplementedError(f"No dense tensor representation for column {self}.")


def require(holds, column_name, wanted, given, error=ValueError):
    """Raise an error that names the column, unless something about its arguments holds."""
    if not holds:
        raise error(f"Column {column_name!r}: {wanted}, not {given!r}.")


def inner_flatten(inputs, new_rank):
    """A tensor, dense or sparse, whose last dimensions are made one so that it has `new_rank`."""
    with name_scope(None, "InnerFlatten", [inputs, new_rank]):
        if isinstance(inputs, SparseTensor):
            shape = inputs.dense_shape
            outer, inner = shape[: new_rank - 1], math.reduce_prod(shape[new_rank - 1 :])
            return sparse.sparse_reshape(inputs, array.concat((outer, [inner]), 0))
        inputs = convert_to_tensor(inputs)
        enough = check_shapes.assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")
        with control_dependencies([enough]):
            outer = array.strided_slice(array.shape(inputs), [0], [new_rank - 1])
            result = array.reshape(inputs, array.concat((outer, [-1]), 0))
        known = inputs.shape
        if known.rank is not None:
            result.set_shape(known[: new_rank - 1].concatenate(known[new_rank - 1 :].num_elements()))
        return result


_REAL = "column_name dimension default_value dtype normalizer"


class RealValuedColumn(OldColumn, DenseColumn, collections.namedtuple("RealValuedColumn", _REAL)):
    """See `real_valued_column`."""

    name = property(lambda self: self.column_name)
    key = property(lambda self: str(self._replace(normalizer=None)))
    parents = property(lambda self: [self.column_name])
    variable_shape = property(lambda self: TensorShape([self.dimension]))

    @property
    def config(self):
        default = list(self.default_value) if self.default_value is not None else None
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    def transform_feature(self, transformation_cache, state_manager):
        tensor = transformation_cache.get(self.column_name)
        if self.normalizer is not None:
            tensor = self.normalizer(tensor)
        return math.cast(tensor, dtypes.float32)

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        return _of_rank(transformation_cache.get(self), output_rank, "expand_dims" if output_rank == 2 else None)

    def dense_numbers(self, transformed):
        return _of_rank(transformed, 2)


def _of_rank(tensor, rank, name=None):
    """Numbers with a last dimension added, or the last dimensions made one, so that they have `rank`."""
    if tensor.shape.rank == rank - 1:
        return array.expand_dims(tensor, -1, name=name)
    return tensor if tensor.shape.rank == rank else inner_flatten(tensor, rank)


class DataFrameColumn(OldColumn, collections.namedtuple("DataFrameColumn", ("column_name", "series"))):
    """Numbers that a series, as the data frames of tf.contrib.learn had them, builds of the features.

    A series has `required_base_features()`, a parse spec, and `build(columns)`, a tensor of features by name. Like
    lists, these columns are compared but not hashed; input layers take those of a subclass with `__hash__`.
    """

    name = property(lambda self: self.column_name)
    key = name
    config = property(lambda self: self.series.required_base_features())

    def __eq__(self, other):
        return type(other) is type(self) and tuple(self) == tuple(other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def insert_transformed_feature(self, columns_to_tensors):
        """Put what the series builds beside the features it is built of."""
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def transform_feature(self, transformation_cache, state_manager):
        return self.series.build(transformation_cache.tensors)

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        return self._numbers(transformation_cache.get(self), output_rank)

    def dense_numbers(self, transformed):
        return self._numbers(transformed, 2)

    def _numbers(self, tensor, rank):
        return _of_rank(math.cast(tensor, dtypes.float32), rank, "expand_dims")


def real_valued_column(column_name, dimension=1, default_value=None, dtype=dtypes.float32, normalizer=None):
    """`dimension` numbers of a feature, as they are or as `normalizer` makes them."""
    require(isinstance(dimension, int), column_name, "dimension must be an integer", dimension, TypeError)
    require(dimension > 0, column_name, "dimension must be greater than 0", dimension)
    require(dtype.is_integer or dtype.is_floating, column_name, "dtype must be convertible to float", dtype)
    default_value = _checked_default(default_value, dimension, dtype, column_name)
    return RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


def _checked_default(value, dimension, dtype, column_name):
    """A default for each of `dimension` numbers, of the column's type."""
    if value is None:
        return None
    values = list(value) if isinstance(value, (list, tuple)) else [value] * dimension
    require(len(values) == dimension, column_name, f"default_value must have dimension={dimension} numbers", value)
    fit = all(isinstance(v, int) or isinstance(v, float) and dtype.is_floating for v in values)
    require(fit, column_name, f"default_value must be compatible with {dtype}", value, TypeError)
    return tuple(float(v) if dtype.is_floating else int(v) for v in values)


_Bucketized = collections.namedtuple("BucketizedColumn", "source_column boundaries")


class BucketizedColumn(OldColumn, DenseColumn, CategoricalColumn, _Bucketized):
    """See `bucketized_column`."""

    name = property(lambda self: f"{self.source_column.name}_bucketized")
    config = property(lambda self: self.source_column.config)
    parents = property(lambda self: [self.source_column])
    length = property(lambda self: len(self.boundaries) + 1)
    num_buckets = property(lambda self: self.length * self.source_column.dimension)
    variable_shape = property(lambda self: TensorShape([self.num_buckets]))
    combiner = "sum"

    def transform_feature(self, transformation_cache, state_manager):
        source = transformation_cache.get(self.source_column)
        return raw.Bucketize(input=source, boundaries=list(self.boundaries), name="bucketize")

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank of 2")
        buckets = math.cast(transformation_cache.get(self), dtypes.int64)
        one_hot = array.one_hot(buckets, self.length, 1.0, 0.0)
        return array.reshape(one_hot, [-1, self.num_buckets], name="reshape")

    def ids(self, buckets):
        """The buckets as sparse ids, with ids of its own for each number."""
        dimension = self.source_column.dimension
        batch_size = array.shape(buckets, name="shape")[0]
        rows = math.range(0, batch_size)
        if dimension > 1:
            rows = array.tile(array.expand_dims(rows, 1, name="expand_dims"), [1, dimension], name="tile")
            rows = array.reshape(rows, [-1], name="reshape")
            columns = array.tile(math.range(0, dimension), [batch_size], name="tile")
            ids = array.reshape(buckets, [-1], name="reshape") + self.length * columns
        else:
            columns = array.zeros(shape=[batch_size], dtype=dtypes.int32)
            ids = array.reshape(buckets, [-1], name="reshape")
        indices = math.cast(array.transpose(array.stack((rows, columns))), dtypes.int64)
        return SparseTensor(indices, ids, math.cast(array.stack([batch_size, dimension]), dtypes.int64))

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return IdWeightPair(self.ids(transformation_cache.get(self)), None)

    def weighted_ids(self, transformed):
        return self.ids(transformed), None


def bucketized_column(source_column, boundaries):
    """Numbers of a `real_valued_column` by the bucket they fall into."""
    if not isinstance(source_column, RealValuedColumn):
        raise TypeError(f"Buckets are of a real_valued_column: source_column must be one, not {source_column!r}.")
    filled = isinstance(boundaries, (list, tuple)) and len(boundaries) > 0
    require(filled, source_column.name, "boundaries must be a list or tuple of numbers", boundaries)
    require(list(boundaries) == sorted(boundaries), source_column.name, "boundaries must be a sorted list", boundaries)
    return BucketizedColumn(source_column, tuple(sorted(set(boundaries))))
