# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, Callable, Mapping, ScalarLike, TensorLike

AUTOTUNE: int
from everflow.data.experimental import CheckpointInputPipelineHook as CheckpointInputPipelineHook
from everflow.data.experimental import Counter as Counter
from everflow.data.experimental import CsvDataset as CsvDataset
from everflow.data import Dataset as Dataset
from everflow.data import FixedLengthRecordDataset as FixedLengthRecordDataset
from everflow.data import Iterator as Iterator
class LMDBDataset(_tf.data.Dataset):
    def __init__(self, filenames: Any) -> None: ...

from everflow.data.experimental import Optional as Optional
from everflow.data.experimental import RandomDataset as RandomDataset
from everflow.data.experimental import Reducer as Reducer
from everflow.data.experimental import SqlDataset as SqlDataset
from everflow.data import TFRecordDataset as TFRecordDataset
from everflow.data.experimental import TFRecordWriter as TFRecordWriter
from everflow.data import TextLineDataset as TextLineDataset
def assert_element_shape(expected_shapes: Any) -> Callable[..., Any]: ...
def batch_and_drop_remainder(batch_size: Any) -> Callable[..., Any]: ...
from everflow.data.experimental import bucket_by_sequence_length as bucket_by_sequence_length
from everflow.data.experimental import choose_from_datasets as choose_from_datasets
from everflow.data.experimental import copy_to_device as copy_to_device
from everflow.data.experimental import dense_to_sparse_batch as dense_to_sparse_batch
from everflow.data.experimental import enumerate_dataset as enumerate_dataset
from everflow.data.experimental import get_next_as_optional as get_next_as_optional
from everflow.data.experimental import get_single_element as get_single_element
from everflow.data.experimental import group_by_reducer as group_by_reducer
from everflow.data.experimental import group_by_window as group_by_window
from everflow.data.experimental import ignore_errors as ignore_errors
from everflow.data.experimental import make_batched_features_dataset as make_batched_features_dataset
from everflow.data.experimental import make_csv_dataset as make_csv_dataset
from everflow.data.experimental import make_saveable_from_iterator as make_saveable_from_iterator
from everflow.data.experimental import map_and_batch as map_and_batch
def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Callable[..., Any]: ...
from everflow.data.experimental import parallel_interleave as parallel_interleave
from everflow.data.experimental import parse_example_dataset as parse_example_dataset
from everflow.data.experimental import prefetch_to_device as prefetch_to_device
def read_batch_features(file_pattern: Any, batch_size: Any, features: TensorLike | Mapping[Any, Any], reader: Any = ..., reader_args: Any = None, randomize_input: bool = True, num_epochs: Any = None, capacity: ScalarLike | None = 10000) -> Any: ...
def reduce_dataset(dataset: Any, reducer: Any) -> Any: ...
from everflow.data.experimental import rejection_resample as rejection_resample
from everflow.data.experimental import sample_from_datasets as sample_from_datasets
from everflow.data.experimental import scan as scan
from everflow.data.experimental import shuffle_and_repeat as shuffle_and_repeat
def sliding_window_batch(window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1) -> Callable[..., Any]: ...
def sloppy_interleave(map_func: Any, cycle_length: Any, block_length: ScalarLike | None = 1) -> Callable[..., Any]: ...
from everflow.data.experimental import unbatch as unbatch
from everflow.data.experimental import unique as unique
