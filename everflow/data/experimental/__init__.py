"""tf.data.experimental: steps of pipelines that never found their way into `tf.data`, a file for each kind."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.data.dataset import DatasetSpec as DatasetStructure
from everflow.data.experimental.grouping import Reducer, bucket_by_sequence_length, group_by_reducer, group_by_window
from everflow.data.experimental.readers import CsvDatasetV1 as CsvDataset
from everflow.data.experimental.readers import SqlDatasetV1 as SqlDataset
from everflow.data.experimental.readers import make_batched_features_dataset, make_csv_dataset, parse_example_dataset
from everflow.data.experimental.resampling import rejection_resample
from everflow.data.experimental.sources import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Counter,
    RaggedTensorStructure,
    SparseTensorStructure,
    TensorArrayStructure,
    TensorStructure,
    TFRecordWriter,
    cardinality,
    choose_from_datasets,
    from_variant,
    get_single_element,
    sample_from_datasets,
    to_variant,
)
from everflow.data.experimental.sources import RandomDatasetV1 as RandomDataset
from everflow.data.experimental.stats import StatsAggregator
from everflow.data.experimental.transformations import (
    bytes_produced_stats,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    ignore_errors,
    latency_stats,
    map_and_batch,
    map_and_batch_with_legacy_function,
    parallel_interleave,
    prefetch_to_device,
    scan,
    shuffle_and_repeat,
    take_while,
    unbatch,
    unique,
)
from everflow.data.legacy import get_structure
from everflow.data.optional import Optional, OptionalStructure, get_next_as_optional
from everflow.data.options import (
    AutoShardPolicy,
    DistributeOptions,
    MapVectorizationOptions,
    OptimizationOptions,
    StatsOptions,
    ThreadingOptions,
)
from everflow.framework.type_specs import TypeSpec as Structure

# They are built on tf.train, which itself is built on datasets: loaded when they are asked for.
_ON_TRAIN = ("CheckpointInputPipelineHook", "make_saveable_from_iterator")


def __getattr__(name):
    if name in _ON_TRAIN:
        from everflow.data.experimental import saving  # builds on this module

        return getattr(saving, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_ON_TRAIN])
