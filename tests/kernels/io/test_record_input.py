"""Endless records of files: each comes once in an epoch, whatever the buffer."""

import itertools

import pytest

import everflow as tf
from everflow.kernels.io.record_input import RecordYielder


@pytest.fixture
def pattern(tmp_path):
    for i in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part-{i}")) as writer:
            for j in range(4):
                writer.write(b"%d" % (4 * i + j))
    return str(tmp_path / "part-*")


@pytest.mark.parametrize("buffer_size", [1, 5, 100])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_each_record_once_in_an_epoch(pattern, buffer_size, shift):
    records = RecordYielder(pattern, 3, shift, buffer_size, "")
    for _ in range(3):
        assert sorted(map(int, records.take(12))) == list(range(12))


def test_a_seed_fixes_the_order_and_another_changes_it(pattern):
    first, again, other = (RecordYielder(pattern, seed, 0.0, 6, "").take(30) for seed in (1, 1, 2))
    assert first == again != other


def test_batches_go_on_where_the_last_ended(pattern):
    records = RecordYielder(pattern, 7, 0.0, 4, "")
    one_by_one = RecordYielder(pattern, 7, 0.0, 4, "").take(24)
    assert list(itertools.chain(*(records.take(n) for n in (5, 0, 7, 12)))) == one_by_one


def test_compressed_files(tmp_path):
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter(str(tmp_path / "a"), options) as writer:
        writer.write(b"only")
    assert RecordYielder(str(tmp_path / "a"), 0, 0.0, 1, "GZIP").take(2) == [b"only", b"only"]


def test_files_without_records_and_no_files(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(tf.errors.NotFoundError, match="No record in 1 files"):
        RecordYielder(str(tmp_path / "empty"), 0, 0.0, 1, "").take(1)
    with pytest.raises(tf.errors.NotFoundError, match="Found no files"):
        RecordYielder(str(tmp_path / "none*"), 0, 0.0, 1, "")
