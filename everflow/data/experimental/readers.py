"""Datasets of files with a known content: CSV columns, serialized examples."""

from __future__ import annotations

import collections
import csv
import glob
import gzip
import zlib

import numpy as np

from everflow.data.dataset import Dataset, made
from everflow.data.experimental.sources import AUTOTUNE
from everflow.data.experimental.transformations import ignore_errors as ignoring
from everflow.data.experimental.transformations import parallel_interleave, shuffle_and_repeat
from everflow.data.files import TFRecordDatasetV1
from everflow.data.settings import optional_tensor
from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensorSpec
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops.array import constants
from everflow.ops.io import examples as parsing_examples
from everflow.platform.signatures import takes

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


class CsvDatasetV1(Dataset):
    r"""The rows of CSV files; `record_defaults` gives each column's default, or its dtype where a value is required.

    Args:
        filenames: The files' names: a string, a list or a tensor.
        record_defaults: For each column its default, or its dtype where a value is required.
        compression_type: `GZIP`, `ZLIB`, or None for none.
        buffer_size: How many elements, or bytes of a file, are kept.
        header: Whether files begin with a line of names.
        field_delim: What separates columns.
        use_quote_delim: Whether quotes hold text with separators together.
        na_value: Text that counts as missing, too.
        select_cols: The numbers of the columns to read, ascending; all if None.

    Example:
        >>> with open("data.csv", "w") as file:
        ...     print("name,age", "Ada,36", sep="\n", file=file)
        >>> dataset = tf.data.experimental.CsvDataset("data.csv", [tf.string, [0]], header=True)
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        (b'Ada', np.int32(36))
    """

    @takes(
        """filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
        use_quote_delim=True, na_value="", select_cols=None""",
    )
    def __init__(self, filenames, record_defaults, compression_type, **reading):
        filenames = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        compression = optional_tensor("compression_type", compression_type, "", dtypes.string)
        defaults = [
            constants.constant([], dtype=d) if _is_dtype(d) else convert_to_tensor(d, name=f"record_defaults_{i}")
            for i, d in enumerate(record_defaults)
        ]
        spec = tuple(TensorSpec([], d.dtype) for d in defaults)
        self._begin(made_of_csv(filenames, compression, defaults, spec, **reading), spec)


def made_of_csv(
    filenames, compression, defaults, spec, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols
):
    """The tensor of a dataset of CSV rows."""
    return raw.CSVDataset(
        filenames=filenames,
        compression_type=compression,
        buffer_size=optional_tensor("buffer_size", buffer_size, 4 * 1024 * 1024),
        header=convert_to_tensor(header, dtypes.bool, name="header"),
        field_delim=convert_to_tensor(field_delim, dtypes.string, name="field_delim"),
        use_quote_delim=convert_to_tensor(use_quote_delim, dtypes.bool, name="use_quote_delim"),
        na_value=convert_to_tensor(na_value, dtypes.string, name="na_value"),
        select_cols=optional_tensor("select_cols", select_cols, np.array([], np.int64)),
        record_defaults=defaults,
        output_shapes=[s.shape for s in spec],
    )


def _is_dtype(value) -> bool:
    return isinstance(value, (dtypes.DType, type, np.dtype))


# --- make_csv_dataset --------------------------------------------------------------------------


@takes(
    """file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None,
    field_delim=",", use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True,
    shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False,
    num_rows_for_inference=100, compression_type=None, ignore_errors=False"""
)
def make_csv_dataset(file_pattern, batch_size, label_name, num_epochs, shuffle, ignore_errors, sloppy, **given):
    r"""Batches of the columns of CSV files, as dicts, or as pairs of a dict and the label column.

    Args:
        file_pattern: A pattern, or a list of them.
        batch_size: How many elements make a batch.
        column_names: The columns' names; the first line if None.
        column_defaults: The columns' defaults or types; found out if None.
        label_name: The column that is the label; None for none.
        select_columns: The names or numbers of the columns to read; all if None.
        field_delim: What separates columns.
        use_quote_delim: Whether quotes hold text with separators together.
        na_value: Text that counts as missing, too.
        header: Whether files begin with a line of names.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is random.
        shuffle_buffer_size: How many elements are mixed.
        shuffle_seed: A seed for the order.
        prefetch_buffer_size: How many batches are ready; chosen if None.
        num_parallel_reads: How many files are read at the same time.
        sloppy: Whether the order may depend on which file is quicker.
        num_rows_for_inference: How many rows are looked at to find types out.
        compression_type: `GZIP`, `ZLIB`, or None for none.
        ignore_errors: Whether rows that can't be parsed are left out.

    Returns:
        A Dataset.

    Raises:
        ValueError: If names or columns don't fit.

    Example:
        >>> with open("data.csv", "w") as file:
        ...     print("age,price", "36,1.5", sep="\n", file=file)
        >>> dataset = tf.data.experimental.make_csv_dataset("data.csv", 1, label_name="price", shuffle=False)
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        (OrderedDict([('age', array([36], dtype=int32))]), array([1.5], dtype=float32))
    """
    filenames, seed = _matching(file_pattern), given["shuffle_seed"]
    names = Dataset.from_tensor_slices(filenames)
    if shuffle:
        names = names.shuffle(len(filenames), seed)
    reading = {name: given[name] for name in "field_delim use_quote_delim na_value header compression_type".split()}
    asked = [given[name] for name in ("column_names", "column_defaults", "select_columns")]
    column_names, defaults, columns = _columns(filenames, *asked, reading, given["num_rows_for_inference"])
    if label_name is not None and label_name not in column_names:
        raise ValueError(f"`label_name` {label_name!r} must be one of {list(column_names)}")

    def filename_to_dataset(filename):
        dataset = CsvDatasetV1(filename, defaults, select_cols=columns, **reading)
        return dataset.apply(ignoring()) if ignore_errors else dataset

    def map_fn(*values):
        features = collections.OrderedDict(zip(column_names, values))
        return features if label_name is None else (features, features.pop(label_name))

    readers = 1 if given["num_parallel_reads"] is None else given["num_parallel_reads"]
    if readers == AUTOTUNE:
        dataset = names.interleave(filename_to_dataset, num_parallel_calls=readers)
    else:
        dataset = names.apply(parallel_interleave(filename_to_dataset, cycle_length=readers, sloppy=sloppy))
    dataset = _shuffled_and_repeated(dataset, shuffle, num_epochs, given["shuffle_buffer_size"], seed)
    # Batches of the same size each where it goes on for ever.
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    dataset = dataset.map(map_fn)
    return dataset.prefetch(given["prefetch_buffer_size"])


def _columns(filenames, names, defaults, select, reading, rows_to_read):
    """(names, defaults, places in a row) of columns to read; names and types come from the files unless given."""
    delimiter, quotes, compression = reading["field_delim"], reading["use_quote_delim"], reading["compression_type"]
    if names is None:
        if not reading["header"]:
            raise ValueError("header=False, so there is no line to infer column_names from: pass them")
        names = _header(filenames, delimiter, quotes, compression)
    if len(names) != len(set(names)):
        raise ValueError("Cannot have duplicate column names.")
    places = None if select is None else _column_places(select, names)
    if defaults is not None:
        defaults = [constants.constant([], dtype=d) if _is_dtype(d) else d for d in defaults]
        for default in defaults:
            if not isinstance(default, Tensor) and convert_dtype(default) not in _TYPES:
                raise ValueError(f"Unsupported default {default!r}")
    else:
        na_value, header = reading["na_value"], reading["header"]
        defaults = _inferred(
            filenames, len(names), delimiter, quotes, na_value, header, rows_to_read, places, compression
        )
    if places is None:
        return names, defaults, None
    if len(defaults) != len(places):
        raise ValueError("If specifying column_defaults with select_columns, their lengths must match")
    return [names[i] for i in places], defaults, places


def convert_dtype(default):
    """The dtype of a default given as a Python value."""
    return dtypes.as_dtype(np.asarray(default).dtype) if np.asarray(default).dtype.kind not in "USO" else dtypes.string


def _shuffled_and_repeated(dataset, shuffle, num_epochs, buffer_size, seed):
    if num_epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset.repeat(num_epochs) if num_epochs != 1 else dataset


def _matching(file_pattern) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = sorted(name for pattern in patterns for name in glob.glob(pattern))
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found


def _csv_rows(name, delimiter, quotes, compression):
    with open(name, "rb") as file:
        content = file.read()
    if compression:
        content = {"GZIP": gzip.decompress, "ZLIB": zlib.decompress}[compression](content)
    lines = content.decode().splitlines()
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


def _header(filenames, delimiter, quotes, compression) -> list[str]:
    first = None
    for name in filenames:
        row = next(_csv_rows(name, delimiter, quotes, compression), None)
        if row is None:
            raise ValueError(f"{name} has no header line: the file is empty")
        if first is not None and row != first:
            raise ValueError(f"Files have different column names: {name} has {row}, the file before it {first}")
        first = row
    return first


def _column_places(select_columns, column_names) -> list[int]:
    if len(set(select_columns)) != len(select_columns):
        raise ValueError("Select_columns cannot contain duplicate columns.")
    places = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError(f"Column index out of range {column}.")
            places.append(column)
        elif column in column_names:
            places.append(column_names.index(column))
        else:
            raise ValueError(f"Value '{column}' is not a column name.")
    return sorted(places)


def _inferred(filenames, count, delimiter, quotes, na_value, header, rows_to_read, columns, compression):
    """A default for each column, of the narrowest type that all values read are of."""
    chosen = range(count) if columns is None else columns
    found = [None] * len(chosen)
    read = 0
    for name in filenames:
        for number, row in enumerate(_csv_rows(name, delimiter, quotes, compression)):
            if header and number == 0:
                continue
            if rows_to_read is not None and read >= rows_to_read:
                break
            if len(row) != count:
                raise ValueError(
                    f"Problem inferring types: CSV row has {len(row)} number of fields. Expected: {count}."
                )
            found = [_wider(kind, row[c], na_value) for kind, c in zip(found, chosen)]
            read += 1
    kinds = [dtypes.string if kind is None else kind for kind in found]
    return [constants.constant([0 if kind is not dtypes.string else ""], dtype=kind) for kind in kinds]


def _wider(kind, text, na_value):
    """The type that holds what was seen and one value more."""
    if text in ("", na_value):
        return kind
    order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]
    for candidate in order[order.index(kind) if kind is not None else 0 :]:
        if _fits(text, candidate):
            return candidate
    return dtypes.string


def _fits(text, kind) -> bool:
    if kind is dtypes.string:
        return True
    try:
        if kind in (dtypes.int32, dtypes.int64):
            return kind.min <= int(text) <= kind.max
        return float(text) <= float(kind.max)
    except ValueError:
        return False


# --- databases ---------------------------------------------------------------------------------


class SqlDatasetV1(Dataset):
    """The rows that a query on a SQLite database gives, as tuples.

    Args:
        driver_name: `sqlite`.
        data_source_name: The file.
        query: The query.
        output_types: The types of the columns.

    Example:
        >>> import sqlite3
        >>> with sqlite3.connect("people.db") as database:
        ...     _ = database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
        ...     _ = database.execute("INSERT INTO people VALUES ('Ada', 36)")
        >>> rows = tf.data.experimental.SqlDataset("sqlite", "people.db", "SELECT * FROM people", (tf.string, tf.int32))
        >>> sess.run(rows.make_one_shot_iterator().get_next())
        (b'Ada', np.int32(36))
    """

    def __init__(self, driver_name, data_source_name, query, output_types):
        texts = {"driver_name": driver_name, "data_source_name": data_source_name, "query": query}
        tensors = {name: convert_to_tensor(value, dtypes.string, name=name) for name, value in texts.items()}
        spec = nest.map_structure(lambda dtype: TensorSpec([], dtype), output_types)
        dataset = made(raw.SqlDataset, spec, **tensors)
        self._begin(dataset._variant_tensor, dataset.element_spec)


# --- examples ----------------------------------------------------------------------------------


def parse_example_dataset(features, num_parallel_calls=1):
    """A function for `apply` that parses batches of serialized Examples.

    Args:
        features: What to parse, by name.
        num_parallel_calls: How many batches are parsed at the same time.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: If there are no features.
        TypeError: If the dataset is not one of vectors of strings.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["x"].float_list.value.append(1.5)
        >>> dataset = tf.data.Dataset.from_tensors([example.SerializeToString()])
        >>> dataset = dataset.apply(tf.data.experimental.parse_example_dataset({"x": tf.FixedLenFeature([], tf.float32)}))
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        {'x': array([1.5], dtype=float32)}
    """
    if features is None:
        raise ValueError("Missing: features was None.")

    def apply(dataset):
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([None], dtypes.string)):
            raise TypeError(f"parse_example_dataset takes a dataset of vectors of strings, not one of {spec}")
        found, wanted, defaults = parsing_examples.example_arguments(features)
        rows = spec.shape[:1] if spec.shape.rank else TensorShape([None])
        dense = zip(wanted.dense_keys, wanted.dense_types, wanted.shapes)
        specs = {key: TensorSpec(rows.concatenate(shape), dtype) for key, dtype, shape in dense}
        for key, dtype in zip(wanted.sparse_keys, wanted.sparse_types):
            specs[key] = SparseTensorSpec(rows.concatenate([None]), dtype)
        parsed = dataset._then(
            raw.ParseExampleDataset,
            specs,
            num_parallel_calls=num_parallel_calls,
            dense_defaults=defaults,
            sparse_keys=wanted.sparse_keys,
            dense_keys=wanted.dense_keys,
            sparse_types=wanted.sparse_types,
            dense_shapes=wanted.shapes,
        )
        if not any(isinstance(feature, parsing_examples.SparseFeature) for feature in found.values()):
            return parsed
        return parsed.map(lambda each: parsing_examples.with_sparse_features(found, dict(each)), num_parallel_calls)

    return apply


@takes(
    """file_pattern, batch_size, features, reader=RECORDS, label_key=None, reader_args=None, num_epochs=None,
    shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, reader_num_threads=None,
    parser_num_threads=None, sloppy_ordering=False, drop_final_batch=False""",
    RECORDS=TFRecordDatasetV1,
)
def make_batched_features_dataset(file_pattern, batch_size, features, reader, label_key, num_epochs, shuffle, **given):
    """Batches of parsed Examples of files, as dicts, or as pairs of a dict and the label.

    Args:
        file_pattern: A pattern, or a list of them.
        batch_size: How many elements make a batch.
        features: What to parse, by name.
        reader: What reads a file: a Dataset class.
        label_key: The feature that is the label; None for none.
        reader_args: Further arguments of the reader.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is random.
        shuffle_buffer_size: How many elements are mixed.
        shuffle_seed: A seed for the order.
        prefetch_buffer_size: How many batches are ready; chosen if None.
        reader_num_threads: How many files are read at the same time.
        parser_num_threads: How many batches are parsed at the same time.
        sloppy_ordering: Whether the order may depend on which file is quicker.
        drop_final_batch: Whether a last batch that isn't full is left out.

    Returns:
        A Dataset.

    Raises:
        ValueError: If the label is none of the features.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["x"].float_list.value.append(1.5)
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(example.SerializeToString())
        >>> wanted = {"x": tf.FixedLenFeature([], tf.float32)}
        >>> dataset = tf.data.experimental.make_batched_features_dataset("data.tfrecord", 2, wanted)
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        {'x': array([1.5, 1.5], dtype=float32)}
    """
    threads = 1 if given["reader_num_threads"] is None else given["reader_num_threads"]
    dataset = Dataset.list_files(file_pattern, shuffle=shuffle, seed=given["shuffle_seed"])
    arguments = list(given["reader_args"] or [])
    reading = {"cycle_length": threads, "sloppy": given["sloppy_ordering"]}
    dataset = dataset.apply(parallel_interleave(lambda name: reader(name, *arguments), **reading))
    if isinstance(dataset.output_types, tuple) and len(dataset.output_types) == 2:
        dataset = dataset.map(lambda _, v: v)
    dataset = _shuffled_and_repeated(dataset, shuffle, num_epochs, given["shuffle_buffer_size"], given["shuffle_seed"])
    dataset = dataset.batch(batch_size, drop_remainder=given["drop_final_batch"] or num_epochs is None)
    dataset = dataset.apply(
        parse_example_dataset(features, 2 if given["parser_num_threads"] is None else given["parser_num_threads"])
    )
    if label_key:
        if label_key not in features:
            raise ValueError(f"`label_key` {label_key!r} is none of the features {list(features)}")
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if given["prefetch_buffer_size"] is None else given["prefetch_buffer_size"])


@takes(
    """file_pattern, batch_size, parser_fn=None, num_epochs=None, shuffle=True, shuffle_buffer_size=None,
    shuffle_seed=None, prefetch_buffer_size=None, num_parallel_reads=None, num_parallel_parser_calls=None,
    drop_final_batch=False""",
)
def make_tf_record_dataset(file_pattern, batch_size, parser_fn, num_epochs, shuffle, shuffle_seed, **given):
    """Batches of the records of TFRecord files, or of what a function makes of each of them.

    Settings that are None have values that suit large files: 24 of them are read at the same time, 10,000 records mixed,
    a batch's records parsed at the same time, and batches prepared ahead.
    """
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    readers = 24 if given["num_parallel_reads"] is None else given["num_parallel_reads"]
    dataset = TFRecordDatasetV1(files, num_parallel_reads=readers)
    mixed = 10000 if given["shuffle_buffer_size"] is None else given["shuffle_buffer_size"]
    dataset = _shuffled_and_repeated(dataset, shuffle, num_epochs, mixed, shuffle_seed)
    # Batches of the same size each where it goes on for ever.
    drop = given["drop_final_batch"] or num_epochs is None
    if parser_fn is not None:
        calls = given["num_parallel_parser_calls"]
        dataset = dataset.map(parser_fn, num_parallel_calls=batch_size if calls is None else calls)
    dataset = dataset.batch(batch_size, drop_remainder=drop)
    ahead = given["prefetch_buffer_size"]
    return dataset if ahead == 0 else dataset.prefetch(AUTOTUNE if ahead is None else ahead)
