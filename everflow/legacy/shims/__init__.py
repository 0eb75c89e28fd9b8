"""What programs of TensorFlow 1's years expect of Python, numpy, scipy, h5py, protobuf and networkx, and today's no longer have.

`everflow run` brings it back before the program starts, for that process only. Nothing else in Everflow relies on it,
and importing everflow changes nothing outside of it.
"""

from __future__ import annotations

from everflow.legacy.shims import (
    array_methods,
    compiled_messages,
    hdf5_files,
    networkx_graphs,
    numpy_functions,
    numpy_names,
    python_names,
    scipy_misc,
)


def bring_back() -> None:
    """Give this process names and manners of Python 3.7, numpy 1.18, h5py 2, protobuf 3, networkx 2 and scipy.misc that today's have dropped."""
    for part in (
        python_names,
        numpy_names,
        numpy_functions,
        array_methods,
        scipy_misc,
        hdf5_files,
        compiled_messages,
        networkx_graphs,
    ):
        part.bring_back()
