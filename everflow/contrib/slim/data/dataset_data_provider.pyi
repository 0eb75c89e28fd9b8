# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, ScalarLike, TensorLike

from everflow.contrib.slim.data.data_provider import DataProvider as DataProvider
class DatasetDataProvider(_tf.contrib.slim.data_provider.DataProvider):
    def __init__(self, dataset: Any, num_readers: ScalarLike | None = 1, reader_kwargs: Any = None, shuffle: bool = True, num_epochs: Any = None, common_queue_capacity: ScalarLike | None = 256, common_queue_min: ScalarLike | None = 128, record_key: str | None = 'record_key', seed: TensorLike | None = None, scope: str | _tf.VariableScope | None = None) -> None: ...

from everflow.contrib.slim.data import parallel_reader as parallel_reader
