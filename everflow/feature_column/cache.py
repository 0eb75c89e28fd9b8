"""Features on their way into columns: tensors of rank two or more, and each column's transformation made once."""

from __future__ import annotations

from everflow.feature_column.columns import FeatureColumn
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor_or_sparse_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow import cond
from everflow.ops.sparse import functions as sparse


class FeatureTransformationCache:
    """Features by key, and what columns made of them. Columns that share a parent share its nodes too."""

    def __init__(self, features):
        self._features = features.copy()
        self._transformed = {}

    def get(self, key, state_manager=None):
        """The tensor of a feature (a string) or of a column."""
        if key in self._transformed:
            return self._transformed[key]
        if key in self._features:
            made = self._with_batches(key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str", the key of a feature, or a column. Provided: {key!r}')
        else:
            made = key.transform_feature(self, state_manager)
            if made is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._transformed[key] = made
        return made

    def _with_batches(self, key):
        """A raw feature; a vector becomes a matrix of one column."""
        feature = convert_to_tensor_or_sparse_tensor(self._features[key])
        rank = feature.shape.rank
        rank_zero = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
        if rank is not None:
            if rank == 0:
                raise ValueError(rank_zero)
            return feature if rank != 1 else _as_column(feature)
        # Only the run can tell.
        with control_dependencies([check.assert_positive(array.rank(feature), message=rank_zero)]):
            return cond(math.equal(1, array.rank(feature)), lambda: _as_column(feature), lambda: feature)


def _as_column(feature):
    if isinstance(feature, SparseTensor):
        return sparse.sparse_reshape(feature, [array.shape(feature)[0], 1])
    return array.expand_dims(feature, -1)


def sparse_without(tensor, ignored=None):
    """A dense tensor's elements as a SparseTensor, without those equal to `ignored`; sparse ones as they are."""
    tensor = convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope(None, "to_sparse_input", (tensor, ignored)):
        if ignored is None:
            ignored = "" if tensor.dtype == dtypes.string else -1
        ignored = math.cast(ignored, tensor.dtype, name="ignore_value")
        indices = array.where_v2(math.not_equal(tensor, ignored), name="indices")
        values = array.gather_nd(tensor, indices, name="values")
        return SparseTensor(indices, values, array.shape(tensor, out_type=dtypes.int64, name="dense_shape"))
