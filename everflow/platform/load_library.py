"""Libraries of compiled ops. They need TensorFlow's own C++ runtime, so all we can do is say so.

docs/adding-ops.md shows how an op is made in Python.
"""

from __future__ import annotations

import os
from typing import NoReturn

from everflow.framework.errors import NotFoundError, UnimplementedError


def load_op_library(library_filename: str) -> NoReturn:
    """Raise NotFoundError where there is no such file, UnimplementedError where there is.

    Args:
        library_filename: The path of the shared library.

    Returns:
        Nothing; it always raises. An op of one's own is registered in Python (`docs/adding-ops.md`).

    Raises:
        NotFoundError: If there is no such file.
        UnimplementedError: If there is: machine code for TensorFlow can't be loaded.

    Example:
        >>> tf.load_op_library("missing.so")
        Traceback (most recent call last):
            ...
        everflow.framework.errors.NotFoundError: ...
    """
    if not os.path.exists(library_filename):
        raise NotFoundError(
            None, None, f"{library_filename}: cannot open shared object file: No such file or directory"
        )
    raise UnimplementedError(
        None, None, f"{library_filename} is made for TensorFlow's C++ runtime; ops for Everflow are written in Python"
    )


def load_file_system_library(library_filename: str) -> NoReturn:
    """As load_op_library; other file systems come from fsspec packages.

    Args:
        library_filename: The path of the shared library.

    Returns:
        None.

    Raises:
        NotFoundError: If there is no such file.

    Example:
        >>> tf.load_file_system_library("missing.so")
        Traceback (most recent call last):
            ...
        everflow.framework.errors.NotFoundError: ...
    """
    load_op_library(library_filename)


def load_library(library_location: str) -> NoReturn:
    """As load_op_library, for a file or a directory of them.

    Args:
        library_location: The path of a shared library, or of a folder of them.

    Returns:
        None.

    Raises:
        FileNotFoundError: If there is no such file or folder.

    Example:
        >>> tf.load_library("missing.so")
        Traceback (most recent call last):
            ...
        FileNotFoundError: There is no file or folder of kernel libraries at 'missing.so'
    """
    if not os.path.exists(library_location):
        raise FileNotFoundError(f"There is no file or folder of kernel libraries at {library_location!r}")
    load_op_library(library_location)
