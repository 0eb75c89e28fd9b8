"""Kernels that read, write and find whole files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.text import scalar_string, strings
from everflow.platform import file_io

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings


@fresh("ReadFile")
def read_file(filename: Strings) -> Strings:
    with file_io.FileIO(scalar_string(filename, "filename"), "rb") as file:
        return strings([file.read()], ())


@kernel("WriteFile")
def write_file(filename: Strings, contents: Strings) -> None:
    name = scalar_string(filename, "filename").decode()
    folder = name.rpartition("/")[0]
    if folder and not file_io.file_exists(folder):
        file_io.recursive_create_dir(folder)
    with file_io.FileIO(name, "wb") as file:
        file.write(scalar_string(contents, "contents"))


@fresh("MatchingFiles")
def matching_files(pattern: Strings) -> Strings:
    if pattern.ndim > 1:
        raise InvalidArgumentError(
            None, None, f"Input patterns tensor must be scalar or vector, but had shape: {list(pattern.shape)}"
        )
    found = sorted(name.encode() for name in file_io.get_matching_files([p.decode() for p in pattern.flat]))
    return strings(found, (len(found),))
