"""tf.keras.datasets.mnist: 70,000 handwritten digits."""

from __future__ import annotations

import os

from everflow.datasets.mnist import load_arrays
from everflow.keras.backend.config import keras_home
from everflow.keras.datasets.arrays_in_files import load_npz
from everflow.keras.datasets.storage import fetched


def load_data(path="mnist.npz"):
    """(training images, labels), (test images, labels): uint8, images of 28 by 28.

    Where MNIST is neither there nor can be downloaded, the smaller set of digits that comes with Everflow takes its
    place, with a warning.
    """
    try:
        path = fetched(path, "mnist.npz", file_hash="8a61469f7ea1b51cbae51d4f78837e45")
    except Exception as error:
        if "URL fetch failure" not in str(error):
            raise
        (train, train_labels), (test, test_labels) = load_arrays(os.path.join(keras_home(), "datasets"))
        return (train[..., 0], train_labels), (test[..., 0], test_labels)
    data = load_npz(path)
    return (data["x_train"], data["y_train"]), (data["x_test"], data["y_test"])
