"""`...kernel_tests.reader_dataset_ops_test_base`: TestCases with small files of each kind of record, and what reading them
must give.
"""

from __future__ import annotations

import gzip
import itertools
import os
import zlib

from everflow.data import TFRecordDataset, experimental
from everflow.framework import dtypes, errors
from everflow.io.records import TFRecordWriter
from everflow.legacy.inner.data.testing.datasets import DatasetTestBase
from everflow.ops.io.examples import FixedLenFeature, VarLenFeature
from everflow.protos import example_pb2

_LABEL = b"fake-label"


def _written(case, name, contents):
    """The path of a file of a test case's own folder."""
    path = os.path.join(case.get_temp_dir(), name)
    with open(path, "wb") as f:
        f.write(contents)
    return path


def _written_records(case, number, records):
    path = os.path.join(case.get_temp_dir(), f"tf_record.{number}.txt")
    with TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


def interleaved(iterators, cycle_length):
    """One value of each of `cycle_length` iterators in turn; where one has ended, the next that waits has its turns."""
    waiting, none = iter(iterators), object()
    taken = [next(waiting, None) for _ in range(cycle_length)]
    while any(it is not None for it in taken):
        for i, it in enumerate(taken):
            if it is None:
                continue
            value = next(it, none)
            if value is none:
                taken[i] = next(waiting, None)
            else:
                yield value


class FixedLengthRecordDatasetTestBase(DatasetTestBase):
    """Files of records of one length, between a header and a footer."""

    def setUp(self):
        """Two files of seven records."""
        super().setUp()
        self._num_files, self._num_records = 2, 7
        self._header_bytes, self._record_bytes, self._footer_bytes = 5, 3, 2

    def _record(self, f, r):
        return str(f * 2 + r).encode() * self._record_bytes

    def _createFiles(self):
        header, footer = b"H" * self._header_bytes, b"F" * self._footer_bytes
        return [
            _written(
                self,
                f"fixed_length_record.{f}.txt",
                b"".join([header, *(self._record(f, r) for r in range(self._num_records)), footer]),
            )
            for f in range(self._num_files)
        ]


class TextLineDatasetTestBase(DatasetTestBase):
    """Files of lines; all but the first one end without the end of a line."""

    def _lineText(self, f, l):  # noqa: E741
        return f"{f}: {l}".encode()

    def _createFiles(self, num_files, num_lines, crlf=False, compression_type=None):
        end = b"\r\n" if crlf else b"\n"
        paths = []
        for f in range(num_files):
            contents = end.join(self._lineText(f, line) for line in range(num_lines)) + (end if f == 0 else b"")
            path = os.path.join(self.get_temp_dir(), f"text_line.{f}.txt")
            paths.append(path)
            if compression_type == "GZIP":
                with gzip.GzipFile(path, "wb") as packed:
                    packed.write(contents)
                continue
            if compression_type not in (None, "", "ZLIB"):
                raise ValueError(f"compression_type is GZIP, ZLIB or None, not {compression_type}")
            _written(self, f"text_line.{f}.txt", zlib.compress(contents) if compression_type == "ZLIB" else contents)
        return paths


class TFRecordDatasetTestBase(DatasetTestBase):
    """Two files of seven records, `test_filenames`."""

    def setUp(self):
        """Write the files."""
        super().setUp()
        self._num_files, self._num_records = 2, 7
        self.test_filenames = self._createFiles()

    def _record(self, f, r):
        return f"Record {r} of file {f}".encode()

    def _createFiles(self):
        return [
            _written_records(self, f, [self._record(f, r) for r in range(self._num_records)])
            for f in range(self._num_files)
        ]

    def _interleave(self, iterators, cycle_length):
        yield from interleaved(iterators, cycle_length)

    def _next_expected_batch(self, file_indices, batch_size, num_epochs, cycle_length, drop_final_batch, use_parser_fn):
        def records(f):
            for r in range(self._num_records):
                yield self._record(f, r)[1 if use_parser_fn else 0 :]

        every = itertools.chain.from_iterable(
            self._interleave([records(f) for f in file_indices], cycle_length) for _ in range(num_epochs)
        )
        while batch := list(itertools.islice(every, batch_size)):
            if len(batch) == batch_size or not drop_final_batch:
                yield batch

    def _verify_records(
        self, outputs, batch_size, file_index, num_epochs, interleave_cycle_length, drop_final_batch, use_parser_fn
    ):
        indices = range(self._num_files) if file_index is None else [file_index]
        for wanted in self._next_expected_batch(
            indices, batch_size, num_epochs, interleave_cycle_length, drop_final_batch, use_parser_fn
        ):
            self.assertAllEqual(wanted, self.evaluate(outputs()))


class MakeBatchedFeaturesDatasetTestBase(DatasetTestBase):
    """Two files of seven `tf.train.Example`s, `test_filenames`; `outputs` is to be what `getNext` gave."""

    def setUp(self):
        """Write the files."""
        super().setUp()
        self._num_files, self._num_records = 2, 7
        self.test_filenames = self._createFiles()

    def make_batch_feature(
        self,
        filenames,
        num_epochs,
        batch_size,
        label_key=None,
        reader_num_threads=1,
        parser_num_threads=1,
        shuffle=False,
        shuffle_seed=None,
        drop_final_batch=False,
    ):
        """The dataset that `make_batched_features_dataset` makes of such files."""
        self.filenames, self.num_epochs, self.batch_size = filenames, num_epochs, batch_size
        features = {
            "file": FixedLenFeature([], dtypes.int64),
            "record": FixedLenFeature([], dtypes.int64),
            "keywords": VarLenFeature(dtypes.string),
            "label": FixedLenFeature([], dtypes.string),
        }
        return experimental.make_batched_features_dataset(
            file_pattern=filenames,
            batch_size=batch_size,
            features=features,
            label_key=label_key,
            reader=TFRecordDataset,
            num_epochs=num_epochs,
            shuffle=shuffle,
            shuffle_seed=shuffle_seed,
            reader_num_threads=reader_num_threads,
            parser_num_threads=parser_num_threads,
            drop_final_batch=drop_final_batch,
        )

    def _record(self, f, r, l):  # noqa: E741
        example = example_pb2.Example()
        feature = example.features.feature
        feature["file"].int64_list.value.append(f)
        feature["record"].int64_list.value.append(r)
        feature["keywords"].bytes_list.value.extend(self._get_keywords(f, r))
        feature["label"].bytes_list.value.append(l.encode() if isinstance(l, str) else l)
        return example.SerializeToString()

    def _get_keywords(self, f, r):
        return [f"keyword{i}".encode() for i in range(1 + (f + r) % 2)]

    def _sum_keywords(self, num_files):
        return sum(len(self._get_keywords(f, r)) for f in range(num_files) for r in range(self._num_records))

    def _createFiles(self):
        return [
            _written_records(self, f, [self._record(f, r, _LABEL) for r in range(self._num_records)])
            for f in range(self._num_files)
        ]

    def _run_actual_batch(self, outputs, label_key_provided=False):
        if label_key_provided:  # labels come beside the features
            features, label = self.evaluate(outputs())
        else:
            features = self.evaluate(outputs())
            label = features["label"]
        keywords = features["keywords"]
        return [features["file"], keywords.indices, keywords.values, keywords.dense_shape, features["record"], label]

    def _next_actual_batch(self, label_key_provided=False):
        return self._run_actual_batch(self.outputs, label_key_provided)

    def _interleave(self, iterators, cycle_length):
        yield from interleaved(iterators, cycle_length)

    def _next_expected_batch(self, file_indices, batch_size, num_epochs, cycle_length=1):
        def records(f):
            for r in range(self._num_records):
                yield f, r

        every = itertools.chain.from_iterable(
            self._interleave([records(f) for f in file_indices], cycle_length) for _ in range(num_epochs)
        )
        while batch := list(itertools.islice(every, batch_size)):
            words = [self._get_keywords(f, r) for f, r in batch]
            yield [
                [f for f, _ in batch],
                [[row, i] for row, each in enumerate(words) for i in range(len(each))],
                [word for each in words for word in each],
                [len(batch), max(map(len, words))],
                [r for _, r in batch],
                [_LABEL] * len(batch),
            ]

    def verify_records(
        self, batch_size, file_index=None, num_epochs=1, label_key_provided=False, interleave_cycle_length=1
    ):
        """`outputs` gives the batches of all files, or of one, and ends."""
        indices = range(self._num_files) if file_index is None else [file_index]
        for wanted in self._next_expected_batch(indices, batch_size, num_epochs, interleave_cycle_length):
            for expected, actual in zip(wanted, self._next_actual_batch(label_key_provided), strict=True):
                self.assertAllEqual(expected, actual)
        with self.assertRaises(errors.OutOfRangeError):
            self._next_actual_batch(label_key_provided)
