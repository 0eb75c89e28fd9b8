"""tf.keras.datasets.fashion_mnist: 70,000 pictures of clothes, in the form of MNIST."""

from __future__ import annotations

from everflow.datasets.mnist import extract_images, extract_labels
from everflow.keras.datasets.storage import fetched

_FILES = (
    "train-labels-idx1-ubyte.gz",
    "train-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
)


def load_data():
    """(training images, labels), (test images, labels): uint8, images of 28 by 28."""
    arrays = []
    for name in _FILES:
        with open(fetched(name, name, cache_subdir="datasets/fashion-mnist"), "rb") as file:
            arrays.append(extract_labels(file) if "labels" in name else extract_images(file)[..., 0])
    return (arrays[1], arrays[0]), (arrays[3], arrays[2])
