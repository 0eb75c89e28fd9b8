"""Arrays in files that hold Python objects: only numbers, text, lists, dicts and numpy arrays are made from them."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np

# What files of datasets name besides plain values: the parts that numpy's arrays are pickled as, old and new.
_ALLOWED = {
    (module, name)
    for module in ("numpy.core.multiarray", "numpy._core.multiarray")
    for name in ("_reconstruct", "scalar")
} | {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}


class _PlainUnpickler(pickle.Unpickler):
    """Reads pickles of plain values and arrays, and refuses others."""

    def find_class(self, module, name):
        if (module, name) not in _ALLOWED:
            raise ValueError(f"The file names {module}.{name}, which isn't part of plain data")
        return super().find_class(module, name)


def unpickle(file, encoding="ASCII"):
    """The plain values in a pickle file."""
    return _PlainUnpickler(file, encoding=encoding).load()


def load_npz(path):
    """{name: array} of an .npz file, also where arrays hold lists."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            content = io.BytesIO(archive.read(member))
            version = np.lib.format.read_magic(content)
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            _, _, dtype = reader(content)
            if dtype.hasobject:
                array = unpickle(content)
            else:
                content.seek(0)
                array = np.lib.format.read_array(content, allow_pickle=False)
            arrays[member.removesuffix(".npy")] = array
    return arrays
