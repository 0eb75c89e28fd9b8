"""Data sets in CSV files, as tf.contrib.learn.datasets.base reads them."""

from __future__ import annotations

import collections
import csv
import functools
import random
import time

import numpy as np

from everflow.datasets.mnist import Datasets, maybe_download  # noqa: F401  they are part of the same old module
from everflow.platform import gfile

Dataset = collections.namedtuple("Dataset", ["data", "target"])


def _split(row, target_column):
    """(features, target) of a row."""
    features = list(row)
    target = features.pop(target_column)
    return features, target


def load_csv_with_header(filename, target_dtype, features_dtype, target_column=-1):
    """A Dataset from a file whose first line begins with the numbers of rows and of features."""
    with gfile.Open(filename) as f:
        rows = csv.reader(f)
        header = next(rows)
        count, features = int(header[0]), int(header[1])
        data = np.zeros((count, features), features_dtype)
        target = np.zeros(count, target_dtype)
        for i, row in enumerate(rows):
            values, label = _split(row, target_column)
            data[i] = np.asarray(values, dtype=features_dtype)
            target[i] = np.asarray(label, dtype=target_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename, target_dtype, features_dtype, target_column=-1):
    """A Dataset from a file of rows only."""
    with gfile.Open(filename) as f:
        pairs = [_split(row, target_column) for row in csv.reader(f)]
    data = np.array([values for values, _ in pairs], dtype=features_dtype)
    return Dataset(data=data, target=np.array([label for _, label in pairs], dtype=target_dtype))


def shrink_csv(filename, ratio):
    """Write `FILE_small.csv` with one of each `ratio` lines of a file."""
    small = filename.replace(".", "_small.")
    with gfile.Open(filename) as source, gfile.Open(small, "w") as target:
        for i, line in enumerate(source):
            if i % ratio == 0:
                target.write(line)


def retry(initial_delay, max_delay, factor=2.0, jitter=0.25, is_retriable=None):
    """A decorator: the function is called again after an error that `is_retriable`, each time after a longer delay.

    Args:
        initial_delay: The seconds before the second call.
        max_delay: Beyond a delay of so many seconds the error is raised.
        factor: How much longer the next delay is.
        jitter: Delays are longer or shorter by as much of them, by chance.
        is_retriable: A function of an error; by default all are.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter}")

    def decorator(fn):
        @functools.wraps(fn)
        def again(*args, **kwargs):
            delay = initial_delay
            while True:
                try:
                    return fn(*args, **kwargs)
                except Exception as error:
                    if delay > max_delay or (is_retriable is not None and not is_retriable(error)):
                        raise
                time.sleep(delay * random.uniform(1 - jitter, 1 + jitter))
                delay *= factor

        return again

    return decorator
