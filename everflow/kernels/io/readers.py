"""Readers at run time: they take file names from a queue and give the records of those files, one by one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from everflow.formats import records
from everflow.formats.lmdb_files import read_entries
from everflow.framework.errors import DataLossError, InvalidArgumentError, OutOfRangeError, UnimplementedError
from everflow.framework.forking import renewed
from everflow.kernels.facts import Waits
from everflow.kernels.queues.queues import Queue, shared_resource
from everflow.kernels.queues.stages import watched_reader
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.strings.text import scalar_string, strings
from everflow.platform import file_io
from everflow.protos.reader_base_pb2 import ReaderBaseState

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Strings


class _Broken:
    """A file in which reading always comes upon the same."""

    def __init__(self, error: DataLossError) -> None:
        self._message = error.message

    def __iter__(self) -> _Broken:
        return self

    def __next__(self) -> tuple[bytes, bytes]:
        raise DataLossError(None, None, self._message)


class Reader:
    """Where reading is: the file of now (a work unit), and how many records and files there were."""

    serializable = False
    single = False  # each file, or whatever is read, is one record, and ends with it

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = renewed(threading.Lock())
        self.reset()

    def reset(self) -> None:
        self.work, self.started, self.finished, self.produced = b"", 0, 0, 0
        self.source: Iterator[tuple[bytes, bytes]] | None = None

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        """(key, record) pairs of one file; subclasses say how."""
        raise NotImplementedError

    def _next(self, queue: Queue, step: Step) -> tuple[bytes, bytes]:
        """The next (key, record), from the next file where one has ended."""
        while True:
            if self.source is None:
                self.work = scalar_string(queue.take(1, step)[0][0], "work")
                self.started += 1
                self.source = self.open(self.work)
            try:
                pair = next(self.source, None)
            except DataLossError as error:
                self.source = _Broken(error)  # it stays where it is
                raise
            except Exception:
                self._end_of_file()
                raise
            if pair is not None:
                self.produced += 1
                if self.single:
                    self._end_of_file()
                return pair
            self._end_of_file()

    def _end_of_file(self) -> None:
        self.finished = self.started
        self.source = None

    def read(self, queue: Queue, step: Step) -> tuple[bytes, bytes]:
        with step.holding(self.lock):
            return self._next(queue, step)

    def read_up_to(self, queue: Queue, count: int, step: Step) -> list[tuple[bytes, bytes]]:
        """At least one record and at most `count`, all from one file."""
        with step.holding(self.lock):
            found = [self._next(queue, step)]
            while len(found) < count:
                pair = None if self.source is None else next(self.source, None)
                if pair is None:
                    self._end_of_file()
                    break
                self.produced += 1
                found.append(pair)
            return found

    def state(self) -> bytes:
        if not self.serializable:
            raise UnimplementedError(None, None, "Reader SerializeState")
        return ReaderBaseState(
            work_started=self.started,
            work_finished=self.finished,
            num_records_produced=self.produced,
            current_work=self.work,
        ).SerializeToString(deterministic=True)

    def restore(self, data: bytes) -> None:
        if not self.serializable:
            raise UnimplementedError(None, None, "Reader RestoreState")
        state = ReaderBaseState()
        try:
            state.ParseFromString(data)
        except DecodeError as error:
            raise InvalidArgumentError(None, None, f"{self.name} can't restore what is no reader's state") from error
        if (
            state.work_started < 0
            or state.work_finished < 0
            or state.work_finished > state.work_started
            or state.num_records_produced < 0
        ):
            raise InvalidArgumentError(
                None, None, f"Unexpected negative value or order when restoring in {self.name}: {state}"
            )
        self.started, self.finished = state.work_started, state.work_finished
        self.produced, self.work = state.num_records_produced, state.current_work
        self.source = self.open(self.work) if self.started > self.finished else None


class WholeFileReader(Reader):
    """Each file is one record; its key is its name."""

    serializable = single = True

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with file_io.FileIO(work.decode(), "rb") as file:
            yield work, file.read()


class IdentityReader(Reader):
    """What the queue gives is the record, and its key."""

    serializable = single = True

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield work, work


class TextLineReader(Reader):
    """Each line is a record; keys are `file:line`."""

    def __init__(self, name: str, skip_header_lines: int) -> None:
        self.skip = skip_header_lines
        super().__init__(name)

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with file_io.FileIO(work.decode(), "rb") as file:
            data = file.read()
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, 1):
            if number > self.skip:
                yield work + b":%d" % number, line.removesuffix(b"\r")


class TFRecordReader(Reader):
    """The records of TFRecord files; keys are `file:offset`."""

    def __init__(self, name: str, compression_type: str) -> None:
        self.compression = compression_type
        super().__init__(name)

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with file_io.FileIO(work.decode(), "rb") as file:
            position = 0
            for record in records.read_records(file, self.compression, work.decode()):
                yield work + b":%d" % position, record
                position += len(record) + 16


class LMDBReader(Reader):
    """The entries of LMDB stores."""

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        return read_entries(work.decode())


class FixedLengthRecordReader(Reader):
    """Records of a fixed number of bytes between a header and a footer; keys are `file:number`."""

    def __init__(
        self, name: str, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int, encoding: str
    ) -> None:
        if header_bytes < 0 or footer_bytes < 0 or hop_bytes < 0:
            raise InvalidArgumentError(None, None, "header_bytes, footer_bytes and hop_bytes must be >= 0")
        if record_bytes <= 0:
            raise InvalidArgumentError(None, None, f"record_bytes must be > 0, got {record_bytes}")
        if encoding not in ("", "GZIP", "ZLIB"):
            raise InvalidArgumentError(None, None, "encoding must be either ZLIB or GZIP or empty")
        self.header, self.size, self.footer = header_bytes, record_bytes, footer_bytes
        self.hop, self.encoding = hop_bytes or record_bytes, encoding
        super().__init__(name)

    def open(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with file_io.FileIO(work.decode(), "rb") as file:
            source = records.decoded(file, self.encoding)
            pieces = iter(lambda: source.read(1 << 20), b"")
            data = b"".join(pieces)
        at, end, number = self.header, len(data) - self.footer, 0
        while at + self.size <= end:
            yield work + b":%d" % number, data[at : at + self.size]
            at, number = at + self.hop, number + 1


# --- kernels ----------------------------------------------------------------------------------


def _two_forms(name: str) -> tuple[str, str]:
    return name, name + "V2"


def _reader(node: Node, session: Session, container: str, shared_name: str, make: Callable[[str], Reader]) -> Any:
    return shared_resource("reader", node, session, container, shared_name, lambda name: watched_reader(make(name)))


@kernel(*_two_forms("WholeFileReader"), once=True)
def whole_file_reader(*, container: str, shared_name: str, node: Node, session: Session) -> WholeFileReader:
    return _reader(node, session, container, shared_name, WholeFileReader)


@kernel(*_two_forms("IdentityReader"), once=True)
def identity_reader(*, container: str, shared_name: str, node: Node, session: Session) -> IdentityReader:
    return _reader(node, session, container, shared_name, IdentityReader)


@kernel("LMDBReader", once=True)
def lmdb_reader(*, container: str, shared_name: str, node: Node, session: Session) -> LMDBReader:
    return _reader(node, session, container, shared_name, LMDBReader)


@kernel(*_two_forms("TextLineReader"), once=True)
def text_line_reader(
    *, skip_header_lines: int, container: str, shared_name: str, node: Node, session: Session
) -> TextLineReader:
    return _reader(node, session, container, shared_name, lambda name: TextLineReader(name, skip_header_lines))


@kernel(*_two_forms("TFRecordReader"), once=True)
def tf_record_reader(
    *, compression_type: str, container: str, shared_name: str, node: Node, session: Session
) -> TFRecordReader:
    return _reader(node, session, container, shared_name, lambda name: TFRecordReader(name, compression_type))


@kernel(*_two_forms("FixedLengthRecordReader"), once=True)
def fixed_length_record_reader(
    *,
    header_bytes: int,
    record_bytes: int,
    footer_bytes: int,
    hop_bytes: int,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> FixedLengthRecordReader:
    encoding = node.attrs.get("encoding", b"")
    encoding = encoding.decode() if isinstance(encoding, bytes) else encoding
    sizes = header_bytes, record_bytes, footer_bytes, hop_bytes

    def make(name: str) -> FixedLengthRecordReader:
        return FixedLengthRecordReader(name, *sizes, encoding)

    return _reader(node, session, container, shared_name, make)


def _scalar(text: bytes) -> Strings:
    value = np.empty((), object)
    value[()] = text
    return value


@acting(*_two_forms("ReaderRead"), waits=Waits.TAKES)
def read(reader_handle: Reader, queue_handle: Queue, *, step: Step) -> tuple[Strings, Strings]:
    key, value = reader_handle.read(queue_handle, step)
    return _scalar(key), _scalar(value)


@acting(*_two_forms("ReaderReadUpTo"), waits=Waits.TAKES)
def read_up_to(
    reader_handle: Reader, queue_handle: Queue, num_records: torch.Tensor, *, step: Step
) -> tuple[Strings, Strings]:
    if int(num_records) <= 0:
        raise OutOfRangeError(None, None, f"num_records must be positive, got {int(num_records)}")
    pairs = reader_handle.read_up_to(queue_handle, int(num_records), step)
    keys, values = zip(*pairs, strict=True)
    return strings(list(keys), (len(pairs),)), strings(list(values), (len(pairs),))


@reading(*_two_forms("ReaderNumRecordsProduced"))
def num_records_produced(reader_handle: Reader) -> torch.Tensor:
    return torch.tensor(reader_handle.produced)


@reading(*_two_forms("ReaderNumWorkUnitsCompleted"))
def num_work_units_completed(reader_handle: Reader) -> torch.Tensor:
    return torch.tensor(reader_handle.finished)


@acting(*_two_forms("ReaderReset"))
def reset(reader_handle: Reader) -> None:
    with reader_handle.lock:
        reader_handle.reset()


@reading(*_two_forms("ReaderSerializeState"))
def serialize_state(reader_handle: Reader) -> Strings:
    with reader_handle.lock:
        return _scalar(reader_handle.state())


@acting(*_two_forms("ReaderRestoreState"))
def restore_state(reader_handle: Reader, state: Strings) -> None:
    with reader_handle.lock:
        reader_handle.restore(scalar_string(state, "state"))
