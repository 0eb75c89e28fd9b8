"""What programs of TensorFlow 1's years expect of Python, numpy, scipy and h5py, and today's no longer have.

`everflow run` brings it back before the program starts, for that process only. Nothing else in Everflow relies on it,
and importing everflow changes nothing outside of it.
"""

from __future__ import annotations

from everflow.legacy.shims import array_methods, hdf5_files, numpy_functions, numpy_names, python_names, scipy_misc


def bring_back() -> None:
    """Give this process names and manners of Python 3.7, numpy 1.18, h5py 2 and scipy.misc that today's have dropped."""
    for part in (python_names, numpy_names, numpy_functions, array_methods, scipy_misc, hdf5_files):
        part.bring_back()
