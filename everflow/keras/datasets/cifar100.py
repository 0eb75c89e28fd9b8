"""tf.keras.datasets.cifar100: 60,000 small pictures of a hundred kinds of things, in twenty groups."""

from __future__ import annotations

import os

import numpy as np

from everflow.keras import backend as K
from everflow.keras.datasets.cifar_batches import load_batch
from everflow.keras.utils.downloads import get_file


def load_data(label_mode="fine"):
    """(training images, labels), (test images, labels); labels are of the kind ("fine") or the group ("coarse")."""
    if label_mode not in ["fine", "coarse"]:
        raise ValueError(f'`label_mode` is "fine" or "coarse", not {label_mode!r}.')
    folder = get_file("cifar-100-python", origin="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz", untar=True)
    parts = []
    for name in ("train", "test"):
        images, labels = load_batch(os.path.join(folder, name), label_key=label_mode + "_labels")
        if K.image_data_format() == "channels_last":
            images = images.transpose(0, 2, 3, 1)
        parts.append((images, np.reshape(labels, (len(labels), 1))))
    return parts[0], parts[1]
