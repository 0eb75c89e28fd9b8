"""Libraries of compiled ops. They need TensorFlow's own C++ runtime, so all we can do is say so.

docs/adding-ops.md shows how an op is made in Python.
"""

from __future__ import annotations

import os
from typing import NoReturn

from everflow.framework.errors import NotFoundError, UnimplementedError


def load_op_library(library_filename: str) -> NoReturn:
    """Raise NotFoundError where there is no such file, UnimplementedError where there is."""
    if not os.path.exists(library_filename):
        raise NotFoundError(
            None, None, f"{library_filename}: cannot open shared object file: No such file or directory"
        )
    raise UnimplementedError(
        None, None, f"{library_filename} is made for TensorFlow's C++ runtime; ops for Everflow are written in Python"
    )


def load_file_system_library(library_filename: str) -> NoReturn:
    """As load_op_library; other file systems come from fsspec packages."""
    load_op_library(library_filename)


def load_library(library_location: str) -> NoReturn:
    """As load_op_library, for a file or a directory of them."""
    if not os.path.exists(library_location):
        raise FileNotFoundError(f"There is no file or folder of kernel libraries at {library_location!r}")
    load_op_library(library_location)
