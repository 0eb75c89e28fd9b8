"""Manners of h5py 2, which Keras 2.3 and programs of its time rely on: attributes to decode, `value`, files opened to write."""

from __future__ import annotations

import functools

import numpy as np

from everflow.legacy.shims.on_import import when_imported


def _each(convert, value):
    """`convert` on a string, or on each of an array."""
    if not isinstance(value, np.ndarray):
        return convert(value)
    return np.array([convert(item) for item in value.flat] + [None], dtype=object)[:-1].reshape(value.shape)


class Decodable(str):
    """A string that was written as bytes: h5py 2 gave the bytes, h5py 3 gives a string, and programs of both years read it."""

    def decode(self, encoding="utf-8", errors="strict"):
        return self.encode("utf-8", "surrogateescape").decode(encoding, errors)


def _decodable(value):
    return Decodable(value) if isinstance(value, str) else value


def _decoded(value):
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _of_any_length(h5py, dtype, encoding):
    """Whether strings of this type have a length each, in this encoding."""
    kind = h5py.check_string_dtype(dtype)
    return kind is not None and kind.length is None and kind.encoding == encoding


def _attribute_reader(h5py, read):
    """`attrs[name]` whose `.decode()` works where bytes were written."""

    @functools.wraps(read)
    def reading(self, name):
        value = read(self, name)
        if isinstance(value, str) or isinstance(value, np.ndarray) and value.dtype == object:
            if _of_any_length(h5py, self.get_id(name).dtype, "ascii"):
                return _each(_decodable, value)
        return value

    return reading


def _attribute_writer(write):
    """`attrs[name] = value` that writes a list of bytes as numpy's array of them, all of one length."""

    @functools.wraps(write)
    def writing(self, name, value):
        if isinstance(value, (list, tuple)) and value and all(isinstance(item, bytes) for item in value):
            value = np.asarray(value)
        write(self, name, value)

    return writing


def _dataset_reader(h5py, read):
    """`dataset[...]` that gives strings where strings were written."""

    @functools.wraps(read)
    def reading(self, *args, **kwargs):
        value = read(self, *args, **kwargs)
        if isinstance(value, bytes) or isinstance(value, np.ndarray) and value.dtype == object:
            if _of_any_length(h5py, self.dtype, "utf-8"):
                return _each(_decoded, value)
        return value

    return reading


def _file_opener(open_file):
    """`File(name)` without a mode: to read and write, or only to read where no more is allowed; a new file if need be."""

    @functools.wraps(open_file)
    def opening(self, name, mode=None, *args, **kwargs):
        if mode is not None:
            return open_file(self, name, mode, *args, **kwargs)
        try:
            return open_file(self, name, "a", *args, **kwargs)
        except OSError:
            return open_file(self, name, "r", *args, **kwargs)

    return opening


def _change(h5py) -> None:
    if hasattr(h5py.Dataset, "value"):
        return  # h5py 2 itself
    h5py.Dataset.value = property(lambda self: self[()], doc="All of the dataset: `dataset[()]`.")
    h5py.Dataset.__getitem__ = _dataset_reader(h5py, h5py.Dataset.__getitem__)
    h5py.AttributeManager.__getitem__ = _attribute_reader(h5py, h5py.AttributeManager.__getitem__)
    h5py.AttributeManager.__setitem__ = _attribute_writer(h5py.AttributeManager.__setitem__)
    h5py.File.fid = property(lambda self: self.id, doc="The file's identifier: `file.id`.")
    h5py.File.__init__ = _file_opener(h5py.File.__init__)


def bring_back() -> None:
    when_imported("h5py", _change)
