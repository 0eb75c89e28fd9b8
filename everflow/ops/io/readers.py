"""Readers as a program holds them: they take names of files from a queue and give (key, record) pairs."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import executing_eagerly
from everflow.framework.shapes import TensorShape
from everflow.ops.shape_rules import reference_handle, scalar_output

# The numbers of tf.io.TFRecordCompressionType.
_COMPRESSIONS = {0: "", 1: "ZLIB", 2: "GZIP"}


class ReaderBase:
    """What all readers share.

    Args:
        reader_ref: The tensor that stands for the reader in the graph.
        supports_serialize: Whether its state can be saved.

    Example:
        >>> isinstance(tf.TextLineReader(), tf.ReaderBase)
        True
    """

    def __init__(self, reader_ref, supports_serialize=False):
        if executing_eagerly():
            raise RuntimeError("Readers work in graphs only; executing eagerly, tf.data reads files")
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    reader_ref = property(lambda self: self._reader_ref, doc="The tensor that stands for the reader in ops.")
    supports_serialize = property(lambda self: self._supports_serialize, doc="Whether its state can be saved.")

    def _op(self, name):
        """An op on readers by resource, or by reference as the oldest are."""
        return getattr(raw, name + "V2" if self._reader_ref.dtype is dtypes.resource else name)

    def _handle(self, queue):
        handle = queue if isinstance(queue, Tensor) else queue.queue_ref
        is_other = handle.dtype is dtypes.resource is not self._reader_ref.dtype
        return raw.FakeQueue(resource=handle) if is_other else handle

    def read(self, queue, name=None):
        """The next (key, record); the queue gives the next file when one has ended."""
        return self._op("ReaderRead")(self._reader_ref, self._handle(queue), name=name)

    def read_up_to(self, queue, num_records, name=None):
        """Up to `num_records` keys and records, fewer where a file ends."""
        return self._op("ReaderReadUpTo")(self._reader_ref, self._handle(queue), num_records, name=name)

    def num_records_produced(self, name=None):
        """How many records were read."""
        return self._op("ReaderNumRecordsProduced")(self._reader_ref, name=name)

    def num_work_units_completed(self, name=None):
        """How many files were read to their end."""
        return self._op("ReaderNumWorkUnitsCompleted")(self._reader_ref, name=name)

    def serialize_state(self, name=None):
        """Where reading is, as a string."""
        return self._op("ReaderSerializeState")(self._reader_ref, name=name)

    def restore_state(self, state, name=None):
        """An op that goes on where `serialize_state` was."""
        return self._op("ReaderRestoreState")(self._reader_ref, state, name=name)

    def reset(self, name=None):
        """An op that begins anew."""
        return self._op("ReaderReset")(self._reader_ref, name=name)


class WholeFileReader(ReaderBase):
    """Each file is one record.

    Args:
        name: Its name in the graph.

    Example:
        >>> with open("whole.txt", "w") as file:
        ...     _ = file.write("all of it")
        >>> key, text = tf.WholeFileReader().read(tf.train.string_input_producer(["whole.txt"]))
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(text)
        b'all of it'
        >>> coord.request_stop()
        >>> coord.join(threads)
    """

    def __init__(self, name=None):
        super().__init__(raw.WholeFileReaderV2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Each line is one record.

    Args:
        skip_header_lines: How many lines are skipped at the start of each file; none if None.
        name: Its name in the graph.

    Example:
        >>> with open("lines.txt", "w") as file:
        ...     print("a b", file=file)
        >>> queue = tf.train.string_input_producer(["lines.txt"])
        >>> key, line = tf.TextLineReader().read(queue)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run([key, line])
        [b'lines.txt:1', b'a b']
        >>> coord.request_stop()
        >>> coord.join(threads)
    """

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Records of a fixed number of bytes.

    Args:
        record_bytes: How many bytes a record has.
        header_bytes: How many bytes are skipped at the start of a file.
        footer_bytes: How many bytes are skipped at the end of a file.
        hop_bytes: How far it is from the start of a record to the next; `record_bytes` if None.
        name: Its name in the graph.
        encoding: `ZLIB` for compressed files; else None.

    Example:
        >>> with open("data.bin", "wb") as file:
        ...     _ = file.write(b"abcdef")
        >>> queue = tf.train.string_input_producer(["data.bin"])
        >>> key, record = tf.FixedLengthRecordReader(record_bytes=3).read(queue)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(record), sess.run(record)
        (b'abc', b'def')
        >>> coord.request_stop()
        >>> coord.join(threads)
    """

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        ref = raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes,
            header_bytes=header_bytes,
            footer_bytes=footer_bytes,
            hop_bytes=hop_bytes,
            encoding=encoding,
            name=name,
        )
        super().__init__(ref)


class TFRecordReader(ReaderBase):
    """The records of TFRecord files.

    Args:
        name: Its name in the graph.
        options: A `tf.python_io.TFRecordOptions` with the compression.

    Example:
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(b"first")
        >>> queue = tf.train.string_input_producer(["data.tfrecord"])
        >>> key, record = tf.TFRecordReader().read(queue)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(record)
        b'first'
        >>> coord.request_stop()
        >>> coord.join(threads)
    """

    def __init__(self, name=None, options=None):
        # Options know the name of their kind of compression; one may also be given by itself.
        named = (
            options.get_compression_type_string(options) if hasattr(options, "get_compression_type_string") else options
        )
        super().__init__(raw.TFRecordReaderV2(name=name, compression_type=_COMPRESSIONS.get(named or 0, named)))


class IdentityReader(ReaderBase):
    """What the queue gives is key and record.

    Args:
        name: Its name in the graph.

    Example:
        >>> queue = tf.train.string_input_producer(["a", "b"], shuffle=False)
        >>> key, value = tf.IdentityReader().read(queue)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run([key, value])
        [b'a', b'a']
        >>> coord.request_stop()
        >>> coord.join(threads)
    """

    def __init__(self, name=None):
        super().__init__(raw.IdentityReaderV2(name=name), supports_serialize=True)


class LMDBReader(ReaderBase):
    """The entries of LMDB stores, in the order of their keys. It needs the package lmdb.

    Args:
        name: The name of the operation in the graph.
        options: Taken, and of no use.

    Example:
        >>> tf.LMDBReader(name="entries").reader_ref.op.type
        'LMDBReader'
    """

    def __init__(self, name=None, options=None):
        del options  # they are of no use
        super().__init__(raw.LMDBReader(name=name))


_READERS = ("WholeFileReader", "TextLineReader", "FixedLengthRecordReader", "TFRecordReader", "IdentityReader")
shape_rule(*(r + "V2" for r in _READERS))(scalar_output)
shape_rule(*_READERS, "LMDBReader")(reference_handle)


@shape_rule("ReaderRead", "ReaderReadV2")
def _read_shape(op):
    return [TensorShape([]), TensorShape([])]


@shape_rule("ReaderRestoreState", "ReaderRestoreStateV2")
def _restore_state_shape(op):
    op.inputs[1].shape.with_rank(0)
    return []


@shape_rule("ReaderReadUpTo", "ReaderReadUpToV2")
def _read_up_to_shape(op):
    return [TensorShape([None]), TensorShape([None])]


_COUNTS = ("ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderSerializeState")
shape_rule(*_COUNTS, *(c + "V2" for c in _COUNTS))(scalar_output)
not_differentiable(
    *_READERS,
    *(r + "V2" for r in _READERS),
    *("Reader" + what + v for what in ("Read", "ReadUpTo", "Reset", "RestoreState") for v in ("", "V2")),
    *(c + v for c in _COUNTS for v in ("", "V2")),
)
