"""Static shapes of the ops of datasets and iterators."""

from __future__ import annotations

from everflow.framework.registry import not_differentiable, shape_rule
from everflow.ops.shape_rules import scalar_output

_ELEMENTS = ("IteratorGetNext", "IteratorGetNextSync", "ReduceDataset", "DatasetToSingleElement", "OptionalGetValue")
_SCALARS = (
    "DatasetCardinality", "IteratorFromStringHandle", "IteratorFromStringHandleV2", "IteratorGetNextAsOptional", "IteratorToStringHandle",
    "IteratorV2", "Iterator", "AnonymousIterator", "OneShotIterator", "OptionalFromValue", "OptionalHasValue", "OptionalNone",
    "BatchDataset", "BatchDatasetV2", "CSVDataset", "CacheDataset", "CacheDatasetV2", "ConcatenateDataset", "DenseToSparseBatchDataset",
    "DirectedInterleaveDataset", "FilterDataset", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "FlatMapDataset",
    "GeneratorDataset", "GroupByReducerDataset", "GroupByWindowDataset", "IgnoreErrorsDataset", "InterleaveDataset",
    "MapAndBatchDataset", "MapDataset", "MaxIntraOpParallelismDataset", "ModelDataset", "OptimizeDataset", "PaddedBatchDataset",
    "PaddedBatchDatasetV2", "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelMapDataset", "PrefetchDataset",
    "PrivateThreadPoolDataset", "RandomDataset", "RangeDataset", "RepeatDataset", "ScanDataset", "ShardDataset",
    "ShuffleAndRepeatDataset", "ShuffleDataset", "ShuffleDatasetV2", "SkipDataset", "SparseTensorSliceDataset", "SqlDataset", "TFRecordDataset",
    "TakeDataset", "TakeWhileDataset", "TensorDataset", "TensorSliceDataset", "TextLineDataset", "UnbatchDataset", "UniqueDataset",
    "WindowDataset", "WrapDatasetVariant", "UnwrapDatasetVariant", "ZipDataset",
)  # fmt: skip


@shape_rule(*_ELEMENTS)
def _element_shapes(op):
    return list(op.attrs["output_shapes"])


shape_rule(*_SCALARS)(scalar_output)
not_differentiable(*_ELEMENTS)
