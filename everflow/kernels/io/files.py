"""Kernels that read, write and find whole files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from everflow.framework.errors import InternalError, InvalidArgumentError, UnimplementedError
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.text import scalar_string, strings
from everflow.kernels.tensors import from_numpy
from everflow.platform import file_io

if TYPE_CHECKING:
    import torch

    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.tensors import Strings


@fresh("ReadFile")
def read_file(filename: Strings) -> Strings:
    with file_io.FileIO(scalar_string(filename, "filename"), "rb") as file:
        return strings([file.read()], ())


@fresh("ImmutableConst")
def immutable_const(*, dtype: DType, shape: TensorShape, memory_region_name: str) -> torch.Tensor:
    """The first bytes of a file as a tensor."""
    sizes, kind = [size or 0 for size in shape.as_list()], np.dtype(dtype.as_numpy_dtype)
    if dtype.name == "string":
        raise UnimplementedError(None, None, "ImmutableConst has no strings: they are not plain bytes of a file")
    wanted = math.prod(sizes) * kind.itemsize
    with file_io.FileIO(memory_region_name, "rb") as file:
        content = file.read(wanted)
    if len(content) < wanted:
        raise InternalError(
            None, None, f"{memory_region_name} has {len(content)} bytes, and a tensor of {sizes} needs {wanted}"
        )
    return from_numpy(np.frombuffer(content, kind).reshape(sizes).copy())


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
