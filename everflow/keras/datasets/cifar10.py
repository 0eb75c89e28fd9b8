"""tf.keras.datasets.cifar10: 60,000 small pictures of ten kinds of things."""

from __future__ import annotations

import os

import numpy as np

from everflow.keras import backend as K
from everflow.keras.datasets.cifar_batches import load_batch
from everflow.keras.utils.downloads import get_file


def load_data():
    """(training images, labels), (test images, labels): uint8, images of 32 by 32 by 3."""
    folder = get_file(
        "cifar-10-batches-py", origin="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz", untar=True
    )
    batches = [load_batch(os.path.join(folder, f"data_batch_{i}")) for i in range(1, 6)]
    x_train = np.concatenate([images for images, _ in batches])
    y_train = np.concatenate([np.array(labels, dtype="uint8") for _, labels in batches]).reshape(-1, 1)
    x_test, y_test = load_batch(os.path.join(folder, "test_batch"))
    y_test = np.reshape(y_test, (len(y_test), 1))
    if K.image_data_format() == "channels_last":
        x_train, x_test = x_train.transpose(0, 2, 3, 1), x_test.transpose(0, 2, 3, 1)
    return (x_train, y_train), (x_test.astype(x_train.dtype), y_test.astype(y_train.dtype))
