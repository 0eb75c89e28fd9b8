"""`HDF5Matrix`: a dataset of an HDF5 file in the place of an array, read as it is needed."""

from __future__ import annotations

import collections

import numpy as np

from everflow.keras.saving.hdf5 import require_h5py


class HDF5Matrix:
    """A dataset of an HDF5 file, or rows `start` to `end` of it; `normalizer` is a function of what is read.

    Args:
        datapath: The file.
        dataset: The name of the dataset.
        start: The first row.
        end: Where rows end; all if None.
        normalizer: A function of what is read.

    Example:
        >>> import h5py
        >>> with h5py.File("data.h5", "w") as file:
        ...     file["x"] = np.arange(6).reshape(3, 2)
        >>> tf.keras.utils.HDF5Matrix("data.h5", "x", start=1)[0]
        array([2, 3])
    """

    # Open files, by path: many matrices may be in one.
    refs = collections.defaultdict(int)

    def __init__(self, datapath, dataset, start=0, end=None, normalizer=None):
        h5py = require_h5py()
        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        first = self.data[0:1]
        self._base_shape = (first if normalizer is None else normalizer(first)).shape[1:]
        self._base_dtype = (first if normalizer is None else normalizer(first)).dtype

    def __len__(self):
        return self.end - self.start

    def __getitem__(self, key):
        if isinstance(key, slice):
            start, stop = key.start or 0, len(self) if key.stop is None else key.stop
            if start + self.start < self.start or stop + self.start > self.end:
                raise IndexError(f"rows {start} to {stop} of {len(self)}")
            places = slice(start + self.start, stop + self.start)
        elif isinstance(key, (int, np.integer)):
            places = self._checked(key)
        elif isinstance(key, np.ndarray) or isinstance(key, list):
            places = [self._checked(i) for i in key]
        else:
            raise TypeError(f"Rows are numbers, lists of numbers or slices, not {key!r}")
        rows = self.data[places]
        return rows if self.normalizer is None else self.normalizer(rows)

    def _checked(self, i):
        if i + self.start >= self.end:
            raise IndexError(f"row {i} of {len(self)}")
        return self.start + int(i)

    shape = property(lambda self: (len(self), *self._base_shape), doc="The shape, as an array has one.")
    dtype = property(lambda self: self._base_dtype, doc="The numpy dtype.")
    ndim = property(lambda self: self.data.ndim, doc="The number of axes.")
    size = property(lambda self: np.prod(self.shape), doc="The number of elements.")
