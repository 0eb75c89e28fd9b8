"""Ops that write summaries to event files or databases by themselves: the writer is a resource, made by one op and used by the others."""

from __future__ import annotations

import time
import weakref

from google.protobuf.message import DecodeError

from everflow.formats.event_database import EventDatabaseWriter
from everflow.formats.event_files import EventFileWriter
from everflow.framework.errors import DataLossError, NotFoundError
from everflow.kernels import summaries
from everflow.kernels.registry import kernel
from everflow.protos.event_pb2 import Event
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.summary_pb2 import Summary, SummaryMetadata


class SummaryWriter:
    """A place for a writer of event files or databases."""

    def __init__(self, name):
        self.name = name
        self._file = None
        self._finish = None

    def open(self, kind, *arguments):
        """Begin a file or database, where none is open."""
        if self._file is None:
            self._file = kind(*arguments)
            # What is written is in the file when the program ends, too.
            self._finish = weakref.finalize(self, self._file.close)

    @property
    def file(self):
        if self._file is None:
            raise NotFoundError(
                None, None, f"Resource localhost/{self.name}/SummaryWriter does not exist: it isn't initialized, or is closed."
            )
        return self._file

    def close(self):
        self.file.close()
        self._finish.detach()
        self._file = None

    def write(self, step, **content):
        event = Event(wall_time=time.time(), **content)
        if step is not None:
            event.step = int(step)
        self.file.add_event(event)


@kernel("SummaryWriter", once=True)
def summary_writer(*, node, session, shared_name, container):
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "summary writer", name, lambda: SummaryWriter(name))


@kernel("CreateSummaryFileWriter")
def create_summary_file_writer(writer, logdir, max_queue, flush_millis, filename_suffix):
    folder, suffix = logdir.item().decode(), filename_suffix.item().decode()
    writer.open(EventFileWriter, folder, int(max_queue), int(flush_millis) / 1000.0, suffix)


@kernel("CreateSummaryDbWriter")
def create_summary_db_writer(writer, db_uri, experiment_name, run_name, user_name):
    writer.open(EventDatabaseWriter, *(text.item().decode() for text in (db_uri, experiment_name, run_name, user_name)))


@kernel("FlushSummaryWriter")
def flush_summary_writer(writer):
    writer.file.flush()


@kernel("CloseSummaryWriter")
def close_summary_writer(writer):
    writer.close()


# --- values ----------------------------------------------------------------------------------


@kernel("WriteScalarSummary")
def write_scalar_summary(writer, step, tag, value, *, T):
    summary = Summary()
    if isinstance(writer.file, EventDatabaseWriter):  # which keeps the type
        made = summaries.tensor_value(summary, tag.item().decode(), value, T)
        made.metadata.plugin_data.plugin_name = "scalars"
    else:
        summary.value.add(tag=tag.item().decode(), simple_value=float(value.double().ravel()[0]))
    writer.write(step, summary=summary)


@kernel("WriteHistogramSummary")
def write_histogram_summary(writer, step, tag, values):
    writer.write(step, summary=_parsed(summaries.histogram_summary(tag, values)))


@kernel("WriteImageSummary")
def write_image_summary(writer, step, tag, tensor, bad_color, *, max_images):
    made = summaries.image_summary(tag, tensor, max_images=max_images, bad_color=bad_color.numpy())
    writer.write(step, summary=_parsed(made))


@kernel("WriteAudioSummary")
def write_audio_summary(writer, step, tag, tensor, sample_rate, *, max_outputs):
    writer.write(step, summary=_parsed(summaries.audio_summary_v2(tag, tensor, sample_rate, max_outputs=max_outputs)))


@kernel("WriteSummary")
def write_summary(writer, step, tensor, tag, summary_metadata, *, T):
    summary = Summary()
    made = summaries.tensor_value(summary, tag.item().decode(), tensor, T)
    text = summary_metadata.item()
    if text:
        made.metadata.CopyFrom(_from_string(SummaryMetadata, text))
    writer.write(step, summary=summary)


@kernel("WriteRawProtoSummary")
def write_raw_proto_summary(writer, step, tensor):
    for text in tensor.ravel().tolist():
        writer.write(step, summary=_from_string(Summary, text))


@kernel("WriteGraphSummary")
def write_graph_summary(writer, step, tensor):
    _from_string(GraphDef, tensor.item())
    writer.write(step, graph_def=tensor.item())


@kernel("ImportEvent")
def import_event(writer, event):
    writer.file.add_event(_from_string(Event, event.item()))


def _parsed(serialized):
    return Summary.FromString(serialized.item())


def _from_string(kind, text):
    try:
        return kind.FromString(text)
    except DecodeError as e:
        raise DataLossError(None, None, f"Bad tf.{kind.__name__} binary proto tensor string") from e
