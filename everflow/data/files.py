"""Datasets that read files: lines, TFRecords, records of a fixed length; and names of files."""

from __future__ import annotations

from everflow.data.dataset import Dataset, DatasetV1Adapter, dataset_function
from everflow.data.settings import as_bool, as_int64, optional_tensor
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops import array, math
from everflow.ops.control_flow import Assert
from everflow.ops.io import files as io_files
from everflow.ops.strings import text as strings
from everflow.platform.signatures import takes

_STRING = TensorSpec([], dtypes.string)
_BUFFER = 256 * 1024


def list_files(file_pattern, shuffle, seed):
    """See `Dataset.list_files`."""
    with name_scope("list_files"):
        shuffle = True if shuffle is None else shuffle
        file_pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        matching = io_files.matching_files(file_pattern)
        some = math.greater(array.shape(matching)[0], 0, name="match_not_empty")
        message = math.add(
            "No files matched pattern: ", strings.reduce_join(file_pattern, separator=", "), name="message"
        )
        checked = Assert(some, [message], summarize=1, name="assert_not_empty")
        with get_default_graph().control_dependencies([checked]):
            matching = array.identity(matching)
        dataset = Dataset.from_tensor_slices(matching)
        if shuffle:
            size = math.maximum(array.shape(matching, out_type=dtypes.int64)[0], 1)
            dataset = dataset.shuffle(size, seed=seed)
        return dataset


def interleaved_in_parallel(
    dataset, function, cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements
):
    """The dataset of `tf.data.experimental.parallel_interleave`."""
    drawn = dataset_function(dataset, function, "tf.data.experimental.parallel_interleave()")
    return dataset._then(
        raw.ParallelInterleaveDataset,
        drawn.output_structure.element_spec,
        **drawn.argument("f"),
        **as_int64(cycle_length=cycle_length, block_length=block_length),
        **as_bool(sloppy=sloppy),
        buffer_output_elements=optional_tensor("buffer_output_elements", buffer_output_elements, 2 * block_length),
        prefetch_input_elements=optional_tensor("prefetch_input_elements", prefetch_input_elements, 2 * cycle_length),
    )


def _slices(filenames):
    return DatasetV1Adapter._make(raw.TensorSliceDataset(components=[filenames], output_shapes=[[]]), _STRING)


class _FileDataset(Dataset):
    """One dataset for each file, joined into one."""

    _made_of_names = False  # whether a dataset of names counts as what it is made of, with its options

    def _read(self, filenames, read_one_file, num_parallel_reads):
        if isinstance(filenames, Dataset):
            if filenames.output_types != dtypes.string:
                raise TypeError(f"A dataset of `filenames` must have strings as elements, not {filenames.output_types}")
            if not filenames.output_shapes.is_compatible_with(TensorShape([])):
                raise TypeError(
                    f"A dataset of `filenames` must have scalars as elements, not {filenames.output_shapes}"
                )
            names = filenames
        else:
            tensor = convert_to_tensor(filenames, dtype=dtypes.string)
            names = _slices(array.reshape(tensor, [-1], name="flat_filenames"))
        if num_parallel_reads is None:
            joined = names.flat_map(read_one_file)
        else:
            joined = interleaved_in_parallel(names, read_one_file, num_parallel_reads, 1, False, None, None)
        self._begin(joined._variant_tensor, _STRING, [names] if self._made_of_names else [])


class _PlainFileDataset(_FileDataset):
    """Files of a kind that has no settings of its own."""

    _op_type = None

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        def read_one_file(filename):
            return read_plain(self._op_type, filename, compression_type, buffer_size)

        self._read(filenames, read_one_file, num_parallel_reads)


class TextLineDatasetV1(_PlainFileDataset):
    r"""The lines of text files, without their ends.

    Args:
        filenames: The files' names: a string, a list or a tensor.
        compression_type: `GZIP`, `ZLIB`, or None for none.
        buffer_size: How many elements, or bytes of a file, are kept.
        num_parallel_reads: How many files are read at the same time.

    Example:
        >>> with open("lines.txt", "w") as file:
        ...     print("header", "first", sep="\n", file=file)
        >>> sess.run(tf.data.TextLineDataset("lines.txt").skip(1).make_one_shot_iterator().get_next())
        b'first'
    """

    _op_type = "TextLineDataset"


class TFRecordDatasetV1(_PlainFileDataset):
    """The records of TFRecord files.

    Args:
        filenames: The files' names: a string, a list or a tensor.
        compression_type: `GZIP`, `ZLIB`, or None for none.
        buffer_size: How many elements, or bytes of a file, are kept.
        num_parallel_reads: How many files are read at the same time.

    Example:
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(b"first")
        >>> sess.run(tf.data.TFRecordDataset("data.tfrecord").make_one_shot_iterator().get_next())
        b'first'
    """

    _op_type = "TFRecordDataset"
    _made_of_names = True


class FixedLengthRecordDatasetV1(_FileDataset):
    """Records of `record_bytes` bytes each, between a header and a footer.

    Args:
        filenames: The files' names: a string, a list or a tensor.
        record_bytes: How many bytes a record has.
        header_bytes: How many bytes are skipped at the start of a file; none if None.
        footer_bytes: How many bytes are skipped at the end of a file; none if None.
        buffer_size: How many elements, or bytes of a file, are kept.
        compression_type: `GZIP`, `ZLIB`, or None for none.
        num_parallel_reads: How many files are read at the same time.

    Example:
        >>> with open("data.bin", "wb") as file:
        ...     _ = file.write(b"abcdef")
        >>> record = tf.data.FixedLengthRecordDataset("data.bin", 3).make_one_shot_iterator().get_next()
        >>> sess.run(record)
        b'abc'
    """

    @takes(
        """filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
        num_parallel_reads=None""",
    )
    def __init__(self, filenames, record_bytes, num_parallel_reads, compression_type, **given):
        def read_one_file(filename):
            return read_fixed_length(filename, record_bytes, compression_type=compression_type, **given)

        self._read(filenames, read_one_file, num_parallel_reads)


# --- one op that reads files ---------------------------------------------------------------------


def read_plain(op_type, filenames, compression_type=None, buffer_size=None):
    """What an op of a type without settings of its own reads from files, one after the other."""
    variant = getattr(raw, op_type)(
        filenames=filenames,
        compression_type=optional_tensor("compression_type", compression_type, "", dtypes.string),
        buffer_size=optional_tensor("buffer_size", buffer_size, _BUFFER),
    )
    return DatasetV1Adapter._make(variant, _STRING)


def read_fixed_length(
    filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None
):
    """Records of one length that an op reads from files, one after the other."""
    variant = raw.FixedLengthRecordDatasetV2(
        filenames=filenames,
        **as_int64(record_bytes=record_bytes),
        header_bytes=optional_tensor("header_bytes", header_bytes, 0),
        footer_bytes=optional_tensor("footer_bytes", footer_bytes, 0),
        buffer_size=optional_tensor("buffer_size", buffer_size, _BUFFER),
        compression_type=optional_tensor("compression_type", compression_type, "", dtypes.string),
    )
    return DatasetV1Adapter._make(variant, _STRING)
