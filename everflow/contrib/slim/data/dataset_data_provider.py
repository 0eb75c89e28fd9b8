"""slim.dataset_data_provider: the items of a dataset's examples, read by parallel readers."""

from __future__ import annotations

from everflow.contrib.slim.data import parallel_reader
from everflow.contrib.slim.data.data_provider import DataProvider


class DatasetDataProvider(DataProvider):
    """Tensors of one example of a dataset at a time, and `record_key`, which says what record it was."""

    def __init__(self, dataset, num_readers=1, reader_kwargs=None, shuffle=True, num_epochs=None, common_queue_capacity=256,
                 common_queue_min=128, record_key="record_key", seed=None, scope=None):  # fmt: skip
        queue = {"capacity": common_queue_capacity, "min_after_dequeue": common_queue_min}
        reading = num_epochs, num_readers, reader_kwargs, shuffle
        sources = dataset.data_sources, dataset.reader
        key, data = parallel_reader.parallel_read(*sources, *reading, **queue, seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(data, items)))
        if record_key in tensors:
            raise ValueError(f"The dataset has an item {record_key!r} of its own: choose another name by record_key")
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
