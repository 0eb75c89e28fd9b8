"""The files of CIFAR10 and CIFAR100: pictures of 32 by 32 with three channels, a batch in each file."""

from __future__ import annotations

from everflow.keras.datasets.arrays_in_files import unpickle


def load_batch(path, label_key="labels"):
    """(images with channels first, labels) of one file."""
    with open(path, "rb") as file:
        batch = unpickle(file, encoding="bytes")
    batch = {key.decode("utf8") if isinstance(key, bytes) else key: value for key, value in batch.items()}
    data = batch["data"]
    return data.reshape(data.shape[0], 3, 32, 32), batch[label_key]
