"""TFRecord files from Python: writing them, and reading them one record at a time."""

from __future__ import annotations

import dataclasses
import zlib

from everflow.formats import records
from everflow.framework.errors import FailedPreconditionError
from everflow.platform.gfile import GFile


class TFRecordCompressionType:
    """Kinds of compression of a record file.

    Example:
        >>> tf.io.TFRecordCompressionType.GZIP
        2
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


@dataclasses.dataclass(eq=False, repr=False)
class TFRecordOptions:
    """How a record file is compressed.

    Args:
        compression_type: `GZIP`, `ZLIB`, an empty string or None for none, or a value of `TFRecordCompressionType`.
        flush_mode: How zlib flushes.
        input_buffer_size: How many bytes are read at a time.
        output_buffer_size: How many bytes are written at a time.
        window_bits: The window of zlib, as a power of 2.
        compression_level: From 0 to 9; -1 for the default.
        compression_method: The method of zlib.
        mem_level: How much memory zlib uses, 1 to 9.
        compression_strategy: The strategy of zlib.

    Example:
        >>> options = tf.python_io.TFRecordOptions("GZIP", compression_level=9)
        >>> with tf.python_io.TFRecordWriter("data.gz", options) as writer:
        ...     writer.write(b"record")
        >>> list(tf.python_io.tf_record_iterator("data.gz", options))
        [b'record']
    """

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    compression_type: object = None
    flush_mode: int | None = None
    input_buffer_size: int | None = None
    output_buffer_size: int | None = None
    window_bits: int | None = None
    compression_level: int | None = None
    compression_method: int | None = None
    mem_level: int | None = None
    compression_strategy: int | None = None

    def __post_init__(self):
        self.get_compression_type_string(self.compression_type)

    @classmethod
    def get_compression_type_string(cls, options):
        """ "", "ZLIB" or "GZIP" of options, a kind of compression or its name."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int):
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


class _Deflating:
    """A file that is compressed as it is written."""

    def __init__(self, file, options, gzip):
        self._file = file
        level = -1 if options.compression_level is None else options.compression_level
        bits = zlib.MAX_WBITS if options.window_bits is None else options.window_bits
        memory = 9 if options.mem_level is None else options.mem_level
        strategy = 0 if options.compression_strategy is None else options.compression_strategy
        self._deflate = zlib.compressobj(
            level, zlib.DEFLATED, bits | 16 if gzip and 0 < bits < 16 else bits, memory, strategy
        )

    def write(self, data):
        self._file.write(self._deflate.compress(data))

    def flush(self):
        self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self):
        self._file.write(self._deflate.flush())
        self._file.close()


class TFRecordWriter:
    """Writes records to a file.

    Args:
        path: The file.
        options: A `TFRecordOptions` or compression type; None for no compression.

    Example:
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(b"record")
        >>> list(tf.python_io.tf_record_iterator("data.tfrecord"))
        [b'record']
    """

    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        compression = TFRecordOptions.get_compression_type_string(options)
        self._file = GFile(path, "wb")
        # The file is there from the start, also while nothing is written.
        self._file.write(b"")
        self._out = _Deflating(self._file, options, compression == "GZIP") if compression else self._file
        self._closed = False

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def write(self, record):
        """Append a record, as bytes."""
        self._check_open()
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"A record must be bytes, not {type(record).__name__}")
        self._out.write(records.encode(bytes(record)))

    def flush(self):
        """Have all records so far in the file."""
        self._check_open()
        self._out.flush()

    def _check_open(self):
        if self._closed:
            raise FailedPreconditionError(None, None, "Writer not initialized or previously closed")

    def close(self):
        """Close the file."""
        if not self._closed:
            self._closed = True
            self._out.close()


def tf_record_iterator(path, options=None):
    """The records of a file, one by one, as bytes.

    Args:
        path: The file.
        options: A `TFRecordOptions`; None for no compression.

    Returns:
        An iterator over bytes.

    Raises:
        DataLossError: If a checksum is wrong, or the file ends in a record.

    Example:
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(b"record")
        >>> next(tf.python_io.tf_record_iterator("data.tfrecord"))
        b'record'
    """
    compression = TFRecordOptions.get_compression_type_string(options)
    with GFile(path, "rb") as file:
        yield from records.read_records(file, compression, str(path))
