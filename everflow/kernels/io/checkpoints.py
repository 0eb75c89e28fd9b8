"""Kernels that write and read checkpoints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from everflow.formats.bundle import BundleReader, BundleWriter, merge_bundles
from everflow.formats.checkpoint import open_checkpoint
from everflow.formats.old_checkpoint import OldCheckpointReader, write_old_checkpoint
from everflow.formats.slices import TensorSlice
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.array.basic import scalar
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.text import scalar_string
from everflow.kernels.tensors import AnyTensor, Strings, Value, from_numpy, to_numpy
from everflow.platform.progress import Work

if TYPE_CHECKING:
    import torch

    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node


def _path(value: Strings) -> str:
    """A checkpoint's name; with a scheme it may be one of this machine's files all the same."""
    return _text(value).removeprefix("file://")


def _text(value: Strings) -> str:
    return (value.item() if isinstance(value, np.ndarray) else value).decode()


def _texts(values: Strings) -> list[str]:
    return [v.decode() for v in values.ravel().tolist()]


def _scalar_text(value: str) -> np.ndarray:
    return np.array(value.encode(), dtype=object)


def parse_shape_and_slice(text: str) -> tuple[list[int] | None, TensorSlice | None]:
    """(full shape, slice) of a text like "4 3 0,2:-"; (None, None) for an empty one."""
    if not text:
        return None, None
    *sizes, part = text.split(" ")
    try:
        shape = [int(s) for s in sizes]
    except ValueError:
        raise InvalidArgumentError(None, None, f"Could not parse dimensions and slice: {text!r}") from None
    return shape, TensorSlice.parse(part)


@kernel("SaveV2")
def save_v2(
    prefix: Strings, tensor_names: Strings, shape_and_slices: Strings, tensors: list[Value], *, node: Node
) -> None:
    names, parts = _texts(tensor_names), _texts(shape_and_slices)
    if len(names) != len(tensors) or len(parts) != len(tensors):
        raise InvalidArgumentError(
            None, None, f"Got {len(names)} names, {len(parts)} slices and {len(tensors)} tensors to save"
        )
    work = Work(
        f"Saving {os.path.basename(_text(prefix))}", sum(getattr(tensor, "nbytes", 0) for tensor in tensors), "bytes"
    )
    writer = BundleWriter(_path(prefix), work)
    try:
        for name, part, tensor, dtype in zip(names, parts, tensors, node.input_dtypes[3:]):
            array = to_numpy(tensor, dtype.base_dtype)
            shape, piece = parse_shape_and_slice(part)
            if shape is None or piece is None:
                writer.add(name, array, dtype.base_dtype)
            else:
                writer.add_slice(name, shape, piece, array, dtype.base_dtype)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    finally:
        work.close()


@kernel("RestoreV2", effect=Effect.READS)
def restore_v2(
    prefix: Strings, tensor_names: Strings, shape_and_slices: Strings, *, dtypes: list[DType]
) -> list[AnyTensor]:
    reader, names = open_checkpoint(_path(prefix)), _texts(tensor_names)
    with Work(f"Restoring {os.path.basename(_text(prefix))}", unit="bytes") as work:
        if isinstance(reader, BundleReader):
            reader.work, work.total = work, sum(reader.size(name) for name in names if reader.has(name)) or None
        return [
            _restored(reader, name, part, dtype) for name, part, dtype in zip(names, _texts(shape_and_slices), dtypes)
        ]


def _restored(reader: BundleReader | OldCheckpointReader, name: str, part: str, dtype: DType) -> AnyTensor:
    stored = reader.dtype(name)
    if stored != dtype.base_dtype:
        raise InvalidArgumentError(
            None, None, f"tensor_name = {name}; expected dtype {dtype.name} does not equal original dtype {stored.name}"
        )
    shape, piece = parse_shape_and_slice(part)
    if shape is None or piece is None:
        return from_numpy(reader.read_mapped(name))
    if shape != reader.shape(name):
        raise InvalidArgumentError(
            None,
            None,
            f"tensor_name = {name}; shape in shape_and_slice spec {shape} does not match the shape stored in checkpoint: {reader.shape(name)}",
        )
    return from_numpy(np.ascontiguousarray(reader.read_slice(name, piece)))


@kernel("MergeV2Checkpoints")
def merge_v2_checkpoints(checkpoint_prefixes: Strings, destination_prefix: Strings, *, delete_old_dirs: bool) -> None:
    prefixes = [prefix.removeprefix("file://") for prefix in _texts(checkpoint_prefixes)]
    merge_bundles(prefixes, _path(destination_prefix))
    if delete_old_dirs:
        for folder in {os.path.dirname(p) for p in prefixes}:
            # Another writer's files may be there still; then it stays.
            if folder and os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)


@fresh("ShardedFilename")
def sharded_filename(basename: Strings, shard: torch.Tensor, num_shards: torch.Tensor) -> Strings:
    place, count = scalar(shard, "shard"), scalar(num_shards, "num_shards")
    return _scalar_text(f"{scalar_string(basename, 'basename').decode()}-{place:05d}-of-{count:05d}")


@fresh("ShardedFilespec")
def sharded_filespec(basename: Strings, num_shards: torch.Tensor) -> Strings:
    count = scalar(num_shards, "num_shards")
    return _scalar_text(f"{scalar_string(basename, 'basename').decode()}-?????-of-{count:05d}")


# --- the first version -----------------------------------------------------------------------


def _write_old(path: str, names: list[str], parts: list[str], tensors: list[AnyTensor], types: Sequence[DType]) -> None:
    rows = []
    for name, part, tensor, dtype in zip(names, parts, tensors, types):
        array = to_numpy(tensor, dtype.base_dtype)
        shape, piece = parse_shape_and_slice(part)
        if shape is None or piece is None:
            shape, piece = list(array.shape), TensorSlice.full(array.ndim)
        rows.append((name, shape, piece, array, dtype.base_dtype))
    write_old_checkpoint(path, rows)


@kernel("Save")
def save(filename: Strings, tensor_names: Strings, data: list[Value], *, node: Node) -> None:
    names = _texts(tensor_names)
    _write_old(_text(filename), names, [""] * len(names), data, node.input_dtypes[2:])


@kernel("SaveSlices")
def save_slices(
    filename: Strings, tensor_names: Strings, shapes_and_slices: Strings, data: list[Value], *, node: Node
) -> None:
    _write_old(_text(filename), _texts(tensor_names), _texts(shapes_and_slices), data, node.input_dtypes[3:])


@kernel("Restore", effect=Effect.READS)
def restore(file_pattern: Strings, tensor_name: Strings, *, dt: DType) -> AnyTensor:
    return _restored(open_checkpoint(_text(file_pattern)), _text(tensor_name), "", dt)


@kernel("RestoreSlice", effect=Effect.READS)
def restore_slice(file_pattern: Strings, tensor_name: Strings, shape_and_slice: Strings, *, dt: DType) -> AnyTensor:
    return _restored(open_checkpoint(_text(file_pattern)), _text(tensor_name), _text(shape_and_slice), dt)
