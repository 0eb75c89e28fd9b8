"""Static shapes of the ops of datasets and iterators, and gradients through optionals."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.op_defs import arg_dtypes
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.ops.shape_rules import scalar_output

_ELEMENTS = (
    "DatasetToSingleElement",
    "IteratorGetNext",
    "IteratorGetNextSync",
    "MultiDeviceIteratorGetNextFromShard",
    "OptionalGetValue",
    "ReduceDataset",
)
_SCALARS = (
    "DatasetCardinality", "IteratorFromStringHandle", "IteratorFromStringHandleV2", "IteratorGetNextAsOptional", "IteratorToStringHandle",
    "IteratorV2", "Iterator", "SerializeIterator", "AnonymousIterator", "OneShotIterator", "OptionalFromValue", "OptionalHasValue", "OptionalNone",
    "BatchDataset", "BatchDatasetV2", "CSVDataset", "CacheDataset", "CacheDatasetV2", "ConcatenateDataset", "DenseToSparseBatchDataset",
    "DirectedInterleaveDataset", "FilterDataset", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "FlatMapDataset",
    "GeneratorDataset", "GroupByReducerDataset", "GroupByWindowDataset", "IgnoreErrorsDataset", "InterleaveDataset",
    "MapAndBatchDataset", "MapDataset", "MaxIntraOpParallelismDataset", "ModelDataset", "OptimizeDataset", "PaddedBatchDataset",
    "PaddedBatchDatasetV2", "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelMapDataset", "PrefetchDataset",
    "PrivateThreadPoolDataset", "RandomDataset", "RangeDataset", "RepeatDataset", "ScanDataset", "ShardDataset",
    "ShuffleAndRepeatDataset", "ShuffleDataset", "ShuffleDatasetV2", "SkipDataset", "SparseTensorSliceDataset", "SqlDataset", "TFRecordDataset",
    "TakeDataset", "TakeWhileDataset", "TensorDataset", "TensorSliceDataset", "TextLineDataset", "UnbatchDataset", "UniqueDataset",
    "WindowDataset", "WrapDatasetVariant", "UnwrapDatasetVariant", "ZipDataset",
    "AutoShardDataset", "ChooseFastestBranchDataset", "ChooseFastestDataset", "DatasetFromGraph", "DatasetToGraph",
    "MatchingFilesDataset", "NonSerializableDataset", "ParseExampleDataset", "RebatchDataset", "SetStatsAggregatorDataset",
    "StatsAggregatorHandle", "StatsAggregatorHandleV2", "StatsAggregatorSummary", "ThreadPoolDataset", "ThreadPoolHandle",
)  # fmt: skip

# Inputs that are one value each.
_SETTINGS = {
    "AssertNextDataset": "transformations",
    "BatchDataset": "batch_size",
    "BatchDatasetV2": "batch_size drop_remainder",
    "BytesProducedStatsDataset": "tag",
    "CacheDataset": "filename",
    "DenseToSparseBatchDataset": "batch_size row_shape",
    "FixedLengthRecordDataset": "header_bytes record_bytes footer_bytes buffer_size",
    "FixedLengthRecordDatasetV2": "header_bytes record_bytes footer_bytes buffer_size",
    "LatencyStatsDataset": "tag",
    "MapAndBatchDataset": "batch_size num_parallel_calls drop_remainder",
    "PaddedBatchDataset": "batch_size",
    "PaddedBatchDatasetV2": "batch_size drop_remainder",
    "PrefetchDataset": "buffer_size",
    "RangeDataset": "start stop step",
    "RepeatDataset": "count",
    "ShardDataset": "num_shards index",
    "ShuffleAndRepeatDataset": "buffer_size seed seed2 count",
    "ShuffleDataset": "buffer_size seed seed2",
    "SkipDataset": "count",
    "SleepDataset": "sleep_microseconds",
    "SnapshotDataset": "path",
    "TFRecordDataset": "compression_type buffer_size",
    "TakeDataset": "count",
    "TextLineDataset": "compression_type buffer_size",
    "WindowDataset": "size shift stride drop_remainder",
}
_VECTORS = ("row_shape", "transformations")


@shape_rule(*_ELEMENTS)
def _element_shapes(op):
    return list(op.attrs["output_shapes"])


shape_rule(*(op_type for op_type in _SCALARS if op_type not in _SETTINGS))(scalar_output)


@shape_rule(*_SETTINGS)
def _made_with_settings(op):
    """A dataset; ValueError where a setting surely isn't one value, or a vector where it is meant to be one."""
    starts, at = {}, 0
    for argument in op.definition.inputs:
        starts[argument.name], at = at, at + len(arg_dtypes(argument, op.attrs))
    for name in _SETTINGS[op.type].split():
        op.inputs[starts[name]].shape.assert_has_rank(1 if name in _VECTORS else 0)
    return scalar_output(op)


not_differentiable(*(name for name in _ELEMENTS if name != "OptionalGetValue"))


@gradient("OptionalFromValue")
def _optional_from_value_grad(op, grad):
    return raw.OptionalGetValue(
        optional=grad,
        output_types=[t.dtype.base_dtype for t in op.inputs],
        output_shapes=[t.shape for t in op.inputs],
    )


@gradient("OptionalGetValue")
def _optional_get_value_grad(op, *grads):
    return raw.OptionalFromValue(components=list(grads))
