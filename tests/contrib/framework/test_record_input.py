"""RecordInput: batches of records of many files, without end."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture
def files(tmp_path):
    for number in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part-{number}")) as writer:
            for i in range(10):
                writer.write(f"{number}-{i}".encode())
    return str(tmp_path / "part-*")


def _records(count, *args, **kwargs):
    with tf.Graph().as_default(), tf.Session() as sess:
        batch = tf.contrib.framework.RecordInput(*args, **kwargs).get_yield_op()
        return np.concatenate([sess.run(batch) for _ in range(count)], axis=-1)


@pytest.mark.parametrize("options", [{}, {"buffer_size": 7, "seed": 4}, {"buffer_size": 100, "shift_ratio": 0.4}])
def test_each_round_has_each_record_once(files, options):
    records = _records(12, files, batch_size=5, **options).tolist()
    assert len(set(records[:30])) == len(set(records[30:])) == 30
    assert records[:30] != records[30:]
    assert records == _records(12, files, batch_size=5, **options).tolist()


def test_batches_are_lists_of_scalars(files):
    assert _records(1, files, batch_size=4, batches=2).shape == (2, 4)
    with tf.Graph().as_default():
        batches = tf.contrib.framework.RecordInput(files, 2, batches=3, name="read").get_yield_op()
    assert [[t.op.name for t in batch] for batch in batches] == [
        ["read_1/Reshape", "read_1/Reshape_3"],
        ["read_1/Reshape_1", "read_1/Reshape_4"],
        ["read_1/Reshape_2", "read_1/Reshape_5"],
    ]


def test_no_files(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="Found no files"):
        _records(1, str(tmp_path / "*"))


def test_unknown_compression(files):
    with pytest.raises(ValueError, match="compression_type"):
        _records(1, files, compression_type="rar")
