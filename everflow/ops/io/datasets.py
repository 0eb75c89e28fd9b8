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
    "FilterByLastComponentDataset", "MultiDeviceIterator",
    "MultiDeviceIteratorFromStringHandle", "MultiDeviceIteratorInit", "MultiDeviceIteratorToStringHandle",
    "StatsAggregatorHandle", "StatsAggregatorHandleV2", "StatsAggregatorSummary", "ThreadPoolDataset", "ThreadPoolHandle",
)  # fmt: skip

# Ops that an older version had by a name with "Experimental" before it.
_ONCE_EXPERIMENTAL = """
    AssertNextDataset AutoShardDataset BytesProducedStatsDataset CSVDataset ChooseFastestDataset DatasetCardinality
    DenseToSparseBatchDataset DirectedInterleaveDataset GroupByReducerDataset GroupByWindowDataset IgnoreErrorsDataset
    IteratorGetDevice LMDBDataset LatencyStatsDataset MapAndBatchDataset MapDataset MatchingFilesDataset
    MaxIntraOpParallelismDataset NonSerializableDataset ParallelInterleaveDataset ParseExampleDataset
    PrivateThreadPoolDataset RandomDataset RebatchDataset ScanDataset SetStatsAggregatorDataset SleepDataset
    SlidingWindowDataset SqlDataset TakeWhileDataset ThreadPoolDataset UnbatchDataset UniqueDataset
""".split()

# Inputs whose rank is looked at: they are one value each, but for those of `_VECTORS` and `_AT_MOST_VECTORS`.
_SETTINGS = {
    "AssertNextDataset": "transformations",
    "BatchDataset": "batch_size",
    "BatchDatasetV2": "batch_size drop_remainder",
    "BytesProducedStatsDataset": "tag",
    "CSVDataset": """filenames compression_type buffer_size header field_delim use_quote_delim na_value select_cols
        record_defaults""",
    "CacheDataset": "filename",
    "CacheDatasetV2": "filename cache",
    "DatasetToSingleElement": "dataset",
    "DenseToSparseBatchDataset": "batch_size row_shape",
    "FixedLengthRecordDataset": "filenames header_bytes record_bytes footer_bytes buffer_size",
    "FixedLengthRecordDatasetV2": "filenames header_bytes record_bytes footer_bytes buffer_size",
    "IteratorGetNext": "iterator",
    "IteratorGetNextSync": "iterator",
    "LatencyStatsDataset": "tag",
    "MapAndBatchDataset": "batch_size num_parallel_calls drop_remainder",
    "MatchingFilesDataset": "patterns",
    "MultiDeviceIteratorGetNextFromShard": "multi_device_iterator",
    "PaddedBatchDataset": "batch_size",
    "PaddedBatchDatasetV2": "batch_size drop_remainder",
    "PrefetchDataset": "buffer_size",
    "RandomDataset": "seed seed2",
    "RangeDataset": "start stop step",
    "ReduceDataset": "input_dataset",
    "RepeatDataset": "count",
    "SamplingDataset": "rate seed seed2",
    "ShardDataset": "num_shards index",
    "ShuffleAndRepeatDataset": "buffer_size seed seed2 count",
    "ShuffleDataset": "buffer_size seed seed2",
    "ShuffleDatasetV2": "buffer_size seed_generator",
    "SkipDataset": "count",
    "SleepDataset": "input_dataset sleep_microseconds",
    "SlidingWindowDataset": "window_size window_shift window_stride",
    "SnapshotDataset": "path",
    "SqlDataset": "driver_name data_source_name query",
    "TFRecordDataset": "filenames compression_type buffer_size",
    "TakeDataset": "count",
    "TextLineDataset": "filenames compression_type buffer_size",
    "WindowDataset": "size shift stride drop_remainder",
}
_VECTORS = ("row_shape", "select_cols", "transformations")
_AT_MOST_VECTORS = ("filenames", "patterns", "record_defaults")


def _check_ranks(op, settings):
    """ValueError where a setting surely isn't one value, or a vector where it is meant to be one."""
    starts, at = {}, 0
    for argument in op.definition.inputs:
        count = len(arg_dtypes(argument, op.attrs))
        starts[argument.name], at = op.inputs[at : at + count], at + count
    for name in settings.split():
        for tensor in starts[name]:
            if name in _AT_MOST_VECTORS:
                tensor.shape.with_rank_at_most(1)
            else:
                tensor.shape.assert_has_rank(1 if name in _VECTORS else 0)
    for default in starts.get("record_defaults", ()):
        if default.shape.rank == 1 and (default.shape.size(0) or 0) > 1:
            raise ValueError(f"A column has one default, or none; this one has {default.shape.size(0)}")


def _rule(op_type, shapes):
    """A rule that checks settings and then tells shapes, for the op and its experimental twin."""

    def rule(op):
        _check_ranks(op, _SETTINGS.get(op_type, ""))
        return shapes(op)

    twin = [f"Experimental{op_type}"] if op_type in _ONCE_EXPERIMENTAL else []
    shape_rule(op_type, *twin)(rule)


for _op_type in _ELEMENTS:
    _rule(_op_type, lambda op: list(op.attrs["output_shapes"]))
for _op_type in ("AnonymousIteratorV2", "AnonymousMultiDeviceIterator"):
    _rule(_op_type, lambda op: [scalar_output(op)] * 2)  # the handle, and what deletes it
for _op_type in {*_SCALARS, *_ONCE_EXPERIMENTAL, *_SETTINGS}.difference(_ELEMENTS):
    _rule(_op_type, scalar_output)


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
