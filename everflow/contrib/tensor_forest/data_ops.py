"""Features and labels as forests take them: one matrix of floats, sparse features after dense ones."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.raw_ops import ReinterpretStringToFloat
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.sparse.functions import sparse_concat

DATA_FLOAT = 0
DATA_CATEGORICAL = 1

DTYPE_TO_FTYPE = {
    dtypes.string: DATA_CATEGORICAL,
    **dict.fromkeys((dtypes.int64, dtypes.int32, dtypes.float32, dtypes.float64), DATA_FLOAT),
}


class DataColumn:
    """A feature: its name, what it was, and how many numbers it has."""

    def __init__(self):
        self.name = ""
        self.original_type = ""
        self.size = 0

    def SerializeToString(self):
        return f"name: {self.name} original_type: {self.original_type} size: {self.size}"


class DataColumnCollection:
    """Features in a row."""

    def __init__(self):
        self.cols = []

    def add(self):
        """A further feature, to be filled."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self):
        return len(self.cols)

    def SerializeToString(self):
        # What the ops of TensorFlow carry has no commas.
        return " ".join("{" + column.SerializeToString() + "}" for column in self.cols)


class TensorForestDataSpec:
    """What the columns of a matrix of features are."""

    def __init__(self):
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size = 0

    def SerializeToString(self):
        return (
            f"dense_features_size: {self.dense_features_size} dense: [{self.dense.SerializeToString()}] "
            f"sparse: [{self.sparse.SerializeToString()}]"
        )


def GetColumnName(column_key, col_num):
    return column_key if isinstance(column_key, str) else getattr(column_key, "column_name", str(col_num))


def CastToFloat(tensor):
    """Numbers as floats; strings as floats that tell them apart."""
    if tensor.dtype == dtypes.string:
        return ReinterpretStringToFloat(tensor)
    return tensor if tensor.dtype == dtypes.float32 else math.cast(tensor, dtypes.float32)


def ParseDataTensorOrDict(data):
    """(dense features, sparse features or None, TensorForestDataSpec) of a tensor or a dict of them."""
    spec = TensorForestDataSpec()
    with name_scope(""):
        if not isinstance(data, dict):
            return _of_a_tensor(data, spec)
        dense, sparse = [], []
        for number, key in enumerate(sorted(data, key=str)):
            feature = data[key]
            column = (spec.sparse if isinstance(feature, SparseTensor) else spec.dense).add()
            column.name, column.original_type = GetColumnName(key, number), DTYPE_TO_FTYPE[feature.dtype]
            if isinstance(feature, SparseTensor):
                column.size = -1
                sparse.append(SparseTensor(feature.indices, CastToFloat(feature.values), feature.dense_shape))
            else:
                numbers = CastToFloat(feature)
                numbers = array.expand_dims(numbers, -1) if numbers.shape.ndims == 1 else numbers
                column.size = numbers.shape.as_list()[1]
                spec.dense_features_size += column.size
                dense.append(numbers)
        joined = array.concat(dense, 1) if len(dense) > 1 else dense[0] if dense else None
        return joined, sparse_concat(1, sparse) if len(sparse) > 1 else sparse[0] if sparse else None, spec


def _of_a_tensor(data, spec):
    if isinstance(data, SparseTensor):
        column = spec.sparse.add()
        column.name, column.original_type, column.size = "sparse_features", DTYPE_TO_FTYPE[data.dtype], -1
        values = CastToFloat(data.values)
        return None, SparseTensor(data.indices, values, data.dense_shape), spec
    data = convert_to_tensor(data)
    column = spec.dense.add()
    column.name, column.original_type = "dense_features", DTYPE_TO_FTYPE[data.dtype]
    column.size = spec.dense_features_size = data.shape.as_list()[1]
    return CastToFloat(data), None, spec


def ParseLabelTensorOrDict(labels):
    """Labels as floats; several ones of a dict side by side."""
    if isinstance(labels, dict):
        return math.cast(array.concat([labels[key] for key in sorted(labels)], 1), dtypes.float32)
    labels = convert_to_tensor(labels)
    return labels if labels.dtype == dtypes.float32 else math.cast(labels, dtypes.float32)
