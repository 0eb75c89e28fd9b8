"""Fisher's irises (1936): the sizes of sepals and petals of 150 flowers of three kinds, which come with the package."""

from __future__ import annotations

import pathlib

import numpy as np

from everflow.datasets.csv_files import Dataset, load_csv_with_header


def load_iris(data_path=None) -> Dataset:
    """The flowers: `data` [150, 4] in cm, `target` 0 for setosa, 1 for versicolor, 2 for virginica; or those of another
    such file.
    """
    path = data_path or str(pathlib.Path(__file__).with_name("iris.csv"))
    return load_csv_with_header(path, target_dtype=np.int64, features_dtype=np.float64)
