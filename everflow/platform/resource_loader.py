"""tf.resource_loader: files that lie beside the code that asks for them."""

from __future__ import annotations

import os
import sys


def load_resource(path):
    """The bytes of a file, by its path from the package's directory."""
    with open(os.path.join(get_root_dir_with_all_resources(), path), "rb") as f:
        return f.read()


def get_data_files_path():
    """The directory of the file that calls this."""
    return _directory_of_caller()


def get_path_to_datafile(path):
    """The path of a file that lies beside the file that calls this."""
    return os.path.join(_directory_of_caller(), path)


def _directory_of_caller():
    return os.path.dirname(os.path.abspath(sys._getframe(2).f_code.co_filename))


def get_root_dir_with_all_resources():
    """The directory of the package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def readahead_file_path(path, readahead="128M"):
    """The path as it is: `readahead` is a hint for file systems that we don't have."""
    del readahead
    return path
