"""Ops that write summaries to event files or databases by themselves: the writer is a resource, made by one op and used
by the others.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from google.protobuf.message import DecodeError, Message

from everflow.formats import records
from everflow.formats.event_database import EventDatabaseWriter
from everflow.formats.event_files import open_event_file
from everflow.framework.errors import DataLossError, NotFoundError
from everflow.kernels.io import summaries
from everflow.kernels.registry import kernel
from everflow.platform import file_io
from everflow.protos.event_pb2 import Event
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.summary_pb2 import Summary, SummaryMetadata

if TYPE_CHECKING:
    import torch

    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Strings


_M = TypeVar("_M", bound=Message)


class EventFile:
    """An event file that is there at once, and takes events in when more than `max_queue` wait, or after a while."""

    def __init__(self, folder: str, max_queue: int, flush_seconds: float, suffix: str) -> None:
        self._max_queue, self._flush_seconds = max_queue, flush_seconds
        self._waiting: list[Event] = []
        self._lock = threading.Lock()
        file_io.recursive_create_dir(folder)
        _, self._file = open_event_file(os.path.join(folder, "events"), suffix)
        self.flush()

    def add_event(self, event: Event) -> None:
        self._waiting.append(event)
        if len(self._waiting) > self._max_queue or time.monotonic() > self._flush_at:
            self.flush()

    def flush(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._file.write(b"".join(records.encode(event.SerializeToString()) for event in waiting))
            self._file.flush()
            self._flush_at = time.monotonic() + self._flush_seconds

    def close(self) -> None:
        self.flush()
        self._file.close()


_Writer: TypeAlias = EventFile | EventDatabaseWriter


class SummaryWriter:
    """A place for a writer of event files or databases."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._file: _Writer | None = None
        self._finish: weakref.finalize | None = None

    def open(self, kind: Callable[..., _Writer], *arguments: float | str) -> None:
        """Begin a file or database, where none is open."""
        if self._file is None:
            self._file = file = kind(*arguments)
            # What is written is in the file when the program ends, too.
            self._finish = weakref.finalize(self, file.close)

    @property
    def file(self) -> _Writer:
        if self._file is None:
            raise NotFoundError(
                None,
                None,
                f"Resource localhost/{self.name}/SummaryWriter does not exist: it isn't initialized, or is closed.",
            )
        return self._file

    def destroyed(self) -> None:
        """Nobody holds the resource any more: what was written is in the file."""
        if self._file is not None:
            self.close()

    def close(self) -> None:
        self.file.close()
        if self._finish is not None:
            self._finish.detach()
        self._file = None

    def write(self, step: torch.Tensor, **content: Any) -> None:
        event = Event(wall_time=time.time(), **content)
        if step is not None:
            event.step = int(step)
        self.file.add_event(event)


@kernel("SummaryWriter", once=True)
def summary_writer(*, node: Node, session: Session, shared_name: str, container: str) -> SummaryWriter:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "summary writer", name, lambda: SummaryWriter(name))


@kernel("CreateSummaryFileWriter")
def create_summary_file_writer(
    writer: SummaryWriter,
    logdir: Strings,
    max_queue: torch.Tensor,
    flush_millis: torch.Tensor,
    filename_suffix: Strings,
) -> None:
    folder, suffix = logdir.item().decode(), filename_suffix.item().decode()
    writer.open(EventFile, folder, int(max_queue), int(flush_millis) / 1000.0, suffix)


@kernel("CreateSummaryDbWriter")
def create_summary_db_writer(
    writer: SummaryWriter, db_uri: Strings, experiment_name: Strings, run_name: Strings, user_name: Strings
) -> None:
    writer.open(EventDatabaseWriter, *(text.item().decode() for text in (db_uri, experiment_name, run_name, user_name)))


@kernel("FlushSummaryWriter")
def flush_summary_writer(writer: SummaryWriter) -> None:
    writer.file.flush()


@kernel("CloseSummaryWriter")
def close_summary_writer(writer: SummaryWriter) -> None:
    writer.close()


# --- values ----------------------------------------------------------------------------------


@kernel("WriteScalarSummary")
def write_scalar_summary(
    writer: SummaryWriter, step: torch.Tensor, tag: Strings, value: torch.Tensor, *, T: DType
) -> None:
    summary = Summary()
    if isinstance(writer.file, EventDatabaseWriter):  # which keeps the type
        made = summaries.tensor_value(summary, tag.item().decode(), value, T)
        made.metadata.plugin_data.plugin_name = "scalars"
    else:
        summary.value.add(tag=tag.item().decode(), simple_value=float(value.double().ravel()[0]))
    writer.write(step, summary=summary)


@kernel("WriteHistogramSummary")
def write_histogram_summary(writer: SummaryWriter, step: torch.Tensor, tag: Strings, values: torch.Tensor) -> None:
    writer.write(step, summary=_parsed(summaries.histogram_summary(tag, values)))


@kernel("WriteImageSummary")
def write_image_summary(
    writer: SummaryWriter,
    step: torch.Tensor,
    tag: Strings,
    tensor: torch.Tensor,
    bad_color: torch.Tensor,
    *,
    max_images: int,
) -> None:
    made = summaries.image_summary(tag, tensor, max_images=max_images, bad_color=bad_color.numpy())
    writer.write(step, summary=_parsed(made))


@kernel("WriteAudioSummary")
def write_audio_summary(
    writer: SummaryWriter,
    step: torch.Tensor,
    tag: Strings,
    tensor: torch.Tensor,
    sample_rate: torch.Tensor,
    *,
    max_outputs: int,
) -> None:
    writer.write(step, summary=_parsed(summaries.audio_summary_v2(tag, tensor, sample_rate, max_outputs=max_outputs)))


@kernel("WriteSummary")
def write_summary(
    writer: SummaryWriter,
    step: torch.Tensor,
    tensor: torch.Tensor,
    tag: Strings,
    summary_metadata: Strings,
    *,
    T: DType,
) -> None:
    summary = Summary()
    made = summaries.tensor_value(summary, tag.item().decode(), tensor, T)
    text = summary_metadata.item()
    if text:
        made.metadata.CopyFrom(_from_string(SummaryMetadata, text))
    writer.write(step, summary=summary)


@kernel("WriteRawProtoSummary")
def write_raw_proto_summary(writer: SummaryWriter, step: torch.Tensor, tensor: Strings) -> None:
    summary = Summary()
    for text in tensor.ravel().tolist():
        summary.MergeFrom(_from_string(Summary, text))
    writer.write(step, summary=summary)


@kernel("WriteGraphSummary")
def write_graph_summary(writer: SummaryWriter, step: torch.Tensor, tensor: Strings) -> None:
    _from_string(GraphDef, tensor.item())
    writer.write(step, graph_def=tensor.item())


@kernel("ImportEvent")
def import_event(writer: SummaryWriter, event: Strings) -> None:
    writer.file.add_event(_from_string(Event, event.item()))


def _parsed(serialized: Strings) -> Summary:
    return Summary.FromString(serialized.item())


def _from_string(kind: type[_M], text: bytes) -> _M:
    try:
        return kind.FromString(text)
    except DecodeError as e:
        name = f"tf.{'compat.v1.' if kind is Summary else ''}{kind.__name__}"
        raise DataLossError(None, None, f"Bad {name} binary proto tensor string") from e
