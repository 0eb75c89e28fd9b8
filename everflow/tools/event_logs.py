"""Record and event files as they lie about: read up to where they end, whole or cut off; the numbers in logs."""

from __future__ import annotations

import os
from collections.abc import Iterator

from google.protobuf.message import DecodeError

from everflow.formats.records import decoded, read_records
from everflow.framework.errors import DataLossError
from everflow.framework.tensor_values import make_ndarray
from everflow.protos.event_pb2 import Event

_MAGIC = {b"\x1f\x8b": "GZIP", b"\x78\x9c": "ZLIB", b"\x78\x01": "ZLIB", b"\x78\xda": "ZLIB"}


def readable_records(path: str) -> tuple[list[bytes], str | None]:
    """The records of a file up to where it ends or can't be read any more, and what is wrong there, if anything is."""
    found: list[bytes] = []
    with open(path, "rb") as file:
        compression = _MAGIC.get(file.read(2), "")
        file.seek(0)
        try:
            for record in read_records(decoded(file, compression), name=path):
                found.append(record)
        except DataLossError as e:
            return found, e.message
    return found, None


def event_files(folder: str) -> dict[str, list[str]]:
    """{run: its event files}, for all folders below one that have some; files of a run in the order they were begun."""
    runs = {}
    for where, _, names in sorted(os.walk(folder)):
        files = sorted(os.path.join(where, name) for name in names if "tfevents" in name)
        if files:
            runs[os.path.relpath(where, folder)] = files
    return runs


def events(path: str) -> Iterator[Event]:
    """The events of a file, as far as it can be read."""
    for record in readable_records(path)[0]:
        try:
            yield Event.FromString(record)
        except DecodeError:
            return


def number(value) -> float | None:
    """The number that a summary's value is; None where it is something else."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return value.simple_value
    if kind == "tensor" and value.metadata.plugin_data.plugin_name in ("", "scalars"):
        array = make_ndarray(value.tensor)
        return float(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "fiu" else None
    return None


def scalars(folder: str) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """{run: {tag: [(step, value)]}} of a log folder, or of a single event file."""
    runs = {"": [folder]} if os.path.isfile(folder) else event_files(folder)
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for run, files in runs.items():
        for file in files:
            for event in events(file):
                for value in event.summary.value:
                    if (shown := number(value)) is not None:
                        found.setdefault(run, {}).setdefault(value.tag, []).append((event.step, shown))
    return found
