"""Where the files of most datasets are, and what several of them need: words by number, samples in a new order."""

from __future__ import annotations

import json

import numpy as np

from everflow.keras.utils.downloads import get_file

_STORAGE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def fetched(path, name, **arguments):
    """The path of a file of the storage, downloaded to `path` below the folder of datasets if it isn't there."""
    return get_file(path, origin=_STORAGE + name, **arguments)


def word_index(path, name):
    """{word: its number} of a file of the storage."""
    with open(fetched(path, name), encoding="utf-8") as file:
        return json.load(file)


def shuffled(x, y):
    """Samples and their labels in a random order, of numpy's generator."""
    order = np.arange(len(x))
    np.random.shuffle(order)
    return x[order], y[order]
