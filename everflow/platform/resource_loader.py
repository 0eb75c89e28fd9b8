"""tf.resource_loader: files that lie beside the code that asks for them."""

from __future__ import annotations

import os
import sys


def load_resource(path):
    """The bytes of a file, by its path from the package's directory.

    Args:
        path: The path.

    Returns:
        Bytes.

    Raises:
        OSError: If there is no such file.

    Example:
        >>> len(tf.resource_loader.load_resource("version.py")) > 0
        True
    """
    with open(os.path.join(get_root_dir_with_all_resources(), path), "rb") as f:
        return f.read()


def get_data_files_path():
    """The directory of the file that calls this.

    Returns:
        A path.

    Example:
        >>> type(tf.resource_loader.get_data_files_path()).__name__
        'str'
    """
    return _directory_of_caller()


def get_path_to_datafile(path):
    """The path of a file that lies beside the file that calls this.

    Args:
        path: The file's name.

    Returns:
        A path.

    Example:
        >>> tf.resource_loader.get_path_to_datafile("data.csv").endswith("data.csv")
        True
    """
    return os.path.join(_directory_of_caller(), path)


def _directory_of_caller():
    return os.path.dirname(os.path.abspath(sys._getframe(2).f_code.co_filename))


def get_root_dir_with_all_resources():
    """The directory of the package.

    Returns:
        A path.

    Example:
        >>> tf.gfile.IsDirectory(tf.resource_loader.get_root_dir_with_all_resources())
        True
    """
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def readahead_file_path(path, readahead="128M"):
    """The path as it is: `readahead` is a hint for file systems that we don't have.

    Args:
        path: The path.
        readahead: How much.

    Returns:
        The path.

    Example:
        >>> tf.resource_loader.readahead_file_path("data.csv")
        'data.csv'
    """
    del readahead
    return path
