"""Datasets of files at run time: lines, TFRecords, records of a fixed length."""

from __future__ import annotations

import functools
import glob
import itertools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from everflow.formats import records
from everflow.framework.errors import DataLossError, InternalError, InvalidArgumentError, NotFoundError
from everflow.kernels.data.datasets import (
    Blocks,
    Dataset,
    Element,
    End,
    Following,
    Iteration,
    Restarting,
    Source,
    Take,
    dataset,
    text,
)
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    import torch

    from everflow.kernels.context import Step
    from everflow.kernels.tensors import Strings


def opened(name: str) -> BinaryIO:
    """A file to be read; NotFoundError where there is none."""
    try:
        return open(name, "rb")
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{name}; No such file or directory") from None


def checked_compression(value: Strings) -> str:
    kind = text(value)
    if kind not in ("", "GZIP", "ZLIB"):
        raise InvalidArgumentError(None, None, "Unsupported compression_type.")
    return kind


def in_files(filenames: Strings, elements_of: Callable, passing: tuple[type[Exception], ...] = ()) -> Source:
    """The elements of files, one file after the other; `elements_of(name)` iterates those of one, as bytes.

    `passing`: errors after which the next file comes. With any other an iterator stays where it is, as TensorFlow's,
    which tries again what it could not read.
    """
    names = [n.decode() for n in np.atleast_1d(filenames).reshape(-1).tolist()]

    def start(iteration: Iteration) -> Following:
        waiting, elements = iter(names), None
        lasting: Exception | None = None

        def following() -> Element:
            nonlocal elements, lasting
            if lasting is not None:
                raise lasting.with_traceback(None)
            while True:
                if elements is None:
                    name = next(waiting, None)
                    if name is None:
                        raise End
                    elements = Restarting(functools.partial(elements_of, name))
                try:
                    for element in elements:
                        return (np.array(element, object),)
                except Exception as error:
                    lasting = None if isinstance(error, passing) else error
                    raise
                elements = None

        return following

    return Source(start, blocks=lambda: _blocks_in_files(names, elements_of, passing))


def _blocks_in_files(names: list[str], elements_of: Callable, passing: tuple[type[Exception], ...]) -> Blocks:
    """The same many at a time."""

    def start(iteration: Iteration) -> Take:
        waiting, elements = iter(names), None
        some: list[bytes] = []
        error: Exception | None = None  # that of the element which comes next

        def read(n: int) -> None:
            nonlocal elements, error
            while len(some) < n:
                if elements is None:
                    name = next(waiting, None)
                    if name is None:
                        return
                    elements = Restarting(functools.partial(elements_of, name))
                before = len(some)
                try:
                    some.extend(itertools.islice(elements, n - before))
                except Exception as e:
                    error = e
                    return
                if len(some) == before:
                    elements = None

        def take(n: int) -> tuple[Strings]:
            nonlocal some, error
            iteration.check()
            if error is None:
                read(n)
            if not some:
                failure, error = error, None if isinstance(error, passing) else error
                raise failure if failure is not None else End
            column = np.empty(len(some), object)
            column[:], some = some, []
            return (column,)

        return take

    return Blocks(start, quiet=True)


@dataset("MatchingFilesDataset", "ExperimentalMatchingFilesDataset")
def matching_files_dataset(patterns: Strings) -> Source:
    """The files that fit patterns, those of each pattern by name; folders are left out."""
    wanted = [p.decode() for p in np.atleast_1d(patterns).reshape(-1).tolist()]

    def found() -> Iterator[Element]:
        for pattern in wanted:
            folder = os.path.dirname(pattern)
            if not glob.has_magic(folder) and not os.path.isdir(folder or "."):
                raise NotFoundError(
                    None, None, f"{folder}; there is no such folder, and it should have files like {pattern}"
                )
            for name in sorted(filter(os.path.isfile, glob.glob(pattern))):
                yield (np.array(name.encode(), object),)

    def start(iteration: Iteration) -> Following:
        names, any_yet = Restarting(found), False

        def following() -> Element:
            nonlocal any_yet
            for name in names:
                any_yet = True
                return name
            if not any_yet:
                raise NotFoundError(None, None, "Don't find any matched files")
            raise End

        return following

    return Source(start)


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file that can only be read in pieces, without "\\n", and without any "\\r", as TensorFlow's."""
    rest = b""
    while piece := file.read(1 << 18):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.replace(b"\r", b"")
    if rest:
        yield rest.replace(b"\r", b"")


@dataset("TextLineDataset")
def text_line_dataset(filenames: Strings, compression_type: Strings, buffer_size: torch.Tensor) -> Source:
    compression = checked_compression(compression_type)

    def elements_of(name: str) -> Iterator[bytes]:
        with opened(name) as file:
            yield from lines_of(records.decoded(file, compression))

    return in_files(filenames, elements_of)


@dataset("TFRecordDataset")
def tf_record_dataset(filenames: Strings, compression_type: Strings, buffer_size: torch.Tensor) -> Source:
    compression = text(compression_type)
    if compression not in ("GZIP", "ZLIB"):
        compression = ""  # as TensorFlow's reader does with a word that it doesn't know

    def elements_of(name: str) -> Iterator[bytes]:
        with opened(name) as file:
            yield from records.read_records(file, compression)

    return in_files(filenames, elements_of, (DataLossError,))


def _fixed(
    filenames: Strings,
    header_bytes: torch.Tensor,
    record_bytes: torch.Tensor,
    footer_bytes: torch.Tensor,
    compression: str,
) -> Source:
    header, size, footer = int(header_bytes), int(record_bytes), int(footer_bytes)
    if size <= 0:
        raise InvalidArgumentError(None, None, "`record_bytes` must be > 0")
    if header < 0 or footer < 0:
        raise InvalidArgumentError(None, None, "`header_bytes` and `footer_bytes` must be >= 0")

    def elements_of(name: str) -> Iterator[bytes]:
        with opened(name) as file:
            source = records.decoded(file, compression)
            pieces = []
            while piece := source.read(1 << 20):
                pieces.append(piece)
            content = b"".join(pieces)
        body = len(content) - header - footer
        if not compression and (body < 0 or body % size):
            raise InvalidArgumentError(
                None,
                None,
                f"Excess bytes: the body of {name} has {body} bytes, which is not an exact multiple of the record length ({size} bytes).",
            )
        if len(content) < header:
            raise InternalError(None, None, f"{name} ends within its header of {header} bytes.")
        # How much a compressed file has shows at its end only.
        for at in range(header, header + body - size + 1, size):
            yield content[at : at + size]
        if body < 0 or body % size:
            raise DataLossError(None, None, f"{name} ends within a record of {size} bytes or its footer.")

    return in_files(filenames, elements_of, (DataLossError, InternalError) if compression else ())


@dataset("FixedLengthRecordDataset")
def fixed_length_record_dataset(
    filenames: Strings,
    header_bytes: torch.Tensor,
    record_bytes: torch.Tensor,
    footer_bytes: torch.Tensor,
    buffer_size: torch.Tensor,
) -> Source:
    return _fixed(filenames, header_bytes, record_bytes, footer_bytes, "")


@dataset("FixedLengthRecordDatasetV2")
def fixed_length_record_dataset_v2(
    filenames: Strings,
    header_bytes: torch.Tensor,
    record_bytes: torch.Tensor,
    footer_bytes: torch.Tensor,
    buffer_size: torch.Tensor,
    compression_type: Strings,
) -> Source:
    return _fixed(filenames, header_bytes, record_bytes, footer_bytes, checked_compression(compression_type))


@kernel("DatasetToTFRecord", "ExperimentalDatasetToTFRecord")
def dataset_to_tf_record(input_dataset: Dataset, filename: Strings, compression_type: Strings, *, step: Step) -> None:
    import gzip
    import zlib

    compression = checked_compression(compression_type)
    following = input_dataset.start(Iteration(step))
    content = bytearray()
    while True:
        try:
            content += records.encode(following()[0].item())
        except End:
            break
    packers: dict[str, Callable[[bytes], bytes]] = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
    packed = packers[compression](bytes(content))
    with open(text(filename), "wb") as file:
        file.write(packed)
