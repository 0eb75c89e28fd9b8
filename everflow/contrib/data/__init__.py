"""tf.contrib.data: where the transformations and readers of tf.data.experimental lived first."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.data.lmdb import LMDBDataset
from everflow.contrib.data.transformations import (
    assert_element_shape,
    batch_and_drop_remainder,
    padded_batch_and_drop_remainder,
    read_batch_features,
    reduce_dataset,
    sliding_window_batch,
    sloppy_interleave,
)

# Where they lived before tf.data.
from everflow.data import Dataset, FixedLengthRecordDataset, Iterator, TextLineDataset, TFRecordDataset
from everflow.data.experimental import (
    AUTOTUNE,
    CheckpointInputPipelineHook,
    Counter,
    CsvDataset,
    Optional,
    RandomDataset,
    Reducer,
    SqlDataset,
    TFRecordWriter,
    bucket_by_sequence_length,
    choose_from_datasets,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    make_batched_features_dataset,
    make_csv_dataset,
    make_saveable_from_iterator,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    unbatch,
    unique,
)
