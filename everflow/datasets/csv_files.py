"""Data sets in CSV files, as tf.contrib.learn.datasets.base reads them."""

from __future__ import annotations

import collections
import csv

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
