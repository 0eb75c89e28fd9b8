"""Snapshots of pipelines: written once, read by later runs, in TensorFlow's files."""

import pathlib
import struct

import numpy as np
import pytest

import everflow as tf
from everflow.data.experimental.snapshots import snapshot
from everflow.protos.snapshot_pb2 import SnapshotMetadataRecord, SnapshotRecord


def run(build, stop=None):
    """The elements of a dataset, in a graph of its own."""
    found = []
    with tf.Graph().as_default():
        following = tf.compat.v1.data.make_one_shot_iterator(build()).get_next()
        with tf.Session() as session:
            while stop is None or len(found) < stop:
                try:
                    found.append(session.run(following))
                except tf.errors.OutOfRangeError:
                    break
    return found


def records(path):
    data = pathlib.Path(path).read_bytes()
    while data:
        (size,) = struct.unpack("<Q", data[:8])
        yield data[8 : 8 + size]
        data = data[8 + size :]


def put(path, values):
    """Let a file have other elements."""
    made = [SnapshotRecord(tensor=[tf.make_tensor_proto(v, tf.int64)]).SerializeToString() for v in values]
    pathlib.Path(path).write_bytes(b"".join(struct.pack("<Q", len(record)) + record for record in made))


def six(folder, **settings):
    return lambda: tf.data.Dataset.range(6).map(lambda x: x * 2).apply(snapshot(str(folder), **settings))


def test_the_second_run_reads_what_the_first_one_wrote(tmp_path):
    assert run(six(tmp_path)) == [0, 2, 4, 6, 8, 10]
    assert run(six(tmp_path)) == [0, 2, 4, 6, 8, 10]
    (file,) = tmp_path.glob("*/*/*.snapshot")
    assert len(list(records(file))) == 6
    put(file, [7, 8])
    assert run(six(tmp_path)) == [7, 8]
    (metadata,) = tmp_path.glob("*/snapshot.metadata")
    known = SnapshotMetadataRecord.FromString(next(records(metadata)))
    assert (known.graph_hash, known.run_id, known.finalized) == (file.parent.parent.name, file.parent.name, True)


def test_a_pass_that_follows_reads_as_well(tmp_path):
    assert run(lambda: six(tmp_path)().repeat(3)) == [0, 2, 4, 6, 8, 10] * 3
    assert len(list(tmp_path.glob("*/*/*.snapshot"))) == 1


def test_while_one_is_being_written_others_go_without(tmp_path):
    assert run(six(tmp_path), stop=2) == [0, 2]
    assert run(six(tmp_path)) == [0, 2, 4, 6, 8, 10]
    assert len(list(tmp_path.glob("*/*/*.snapshot"))) == 1
    (metadata,) = tmp_path.glob("*/snapshot.metadata")
    assert not SnapshotMetadataRecord.FromString(next(records(metadata))).finalized


def test_one_that_was_given_up_is_written_anew(tmp_path):
    run(six(tmp_path, pending_snapshot_expiry_seconds=0), stop=2)
    assert run(six(tmp_path, pending_snapshot_expiry_seconds=0)) == [0, 2, 4, 6, 8, 10]
    assert len(list(tmp_path.glob("*/*/*.snapshot"))) == 2
    (metadata,) = tmp_path.glob("*/snapshot.metadata")
    assert SnapshotMetadataRecord.FromString(next(records(metadata))).finalized


def test_each_pipeline_has_a_folder(tmp_path):
    there = str(tmp_path)
    run(lambda: tf.data.Dataset.range(3).apply(snapshot(there)))
    run(lambda: tf.data.Dataset.range(4).apply(snapshot(there)))
    run(lambda: tf.data.Dataset.range(3).map(lambda x: x + 1).apply(snapshot(there)))
    run(lambda: tf.data.Dataset.range(3).map(lambda x: x + 2).apply(snapshot(there)))
    assert len(list(tmp_path.iterdir())) == 4
    assert run(lambda: tf.data.Dataset.range(3).map(lambda x: x + 1).apply(snapshot(there))) == [1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 4


def test_compressed_and_of_several_types(tmp_path):
    def build():
        made = tf.data.Dataset.range(3).map(lambda x: (tf.as_string(x), tf.fill([2], tf.cast(x, tf.float32))))
        return made.apply(snapshot(str(tmp_path), compression="GZIP"))

    np.testing.assert_equal(run(build), run(build))
    assert [text for text, _ in run(build)] == [b"0", b"1", b"2"]


def test_a_file_that_is_large_enough_is_followed_by_another(tmp_path):
    def build():
        made = tf.data.Dataset.range(8).map(lambda x: tf.fill([1 << 16], x))
        return made.apply(snapshot(str(tmp_path), shard_size_bytes=1 << 20)).map(lambda x: x[0])

    assert run(build) == list(range(8))
    assert len(list(tmp_path.glob("*/*/*.snapshot"))) > 2
    assert run(build) == list(range(8))


def test_elements_written_by_several_are_all_read(tmp_path):
    def build():
        return tf.data.Dataset.range(9).apply(snapshot(str(tmp_path), num_writer_threads=2))

    run(build)
    assert len(list(tmp_path.glob("*/*/*.snapshot"))) == 2
    assert sorted(run(build)) == list(range(9))


@pytest.mark.parametrize("settings", [{"compression": "X"}, {"shard_size_bytes": 1024}])
def test_settings_that_do_not_work_are_refused(settings, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(lambda: tf.data.Dataset.range(3).apply(snapshot(str(tmp_path), **settings)))


def test_sparse_and_ragged_elements(tmp_path):
    def build():
        numbers = tf.data.Dataset.range(3)
        sparse = numbers.map(lambda x: tf.SparseTensor([[0]], [tf.as_string(x)], [2]))
        ragged = numbers.map(lambda x: tf.RaggedTensor.from_row_lengths(tf.fill([x], x), [x]))
        return tf.data.Dataset.zip((sparse, ragged)).apply(snapshot(str(tmp_path)))

    for _ in range(2):  # written, and read
        with tf.Graph().as_default(), tf.Session() as session:
            following = tf.compat.v1.data.make_one_shot_iterator(build()).get_next()
            found = [session.run(following) for _ in range(3)]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(following)
        assert [sparse.values.tolist() for sparse, _ in found] == [[b"0"], [b"1"], [b"2"]]
        assert [ragged.to_list() for _, ragged in found] == [[[]], [[1]], [[2, 2]]]


def test_what_a_run_does_is_decided_with_its_first_element(tmp_path):
    def started():
        iterator = tf.compat.v1.data.make_initializable_iterator(
            tf.data.Dataset.range(3).apply(snapshot(str(tmp_path / "kept")))
        )
        session.run(iterator.initializer)
        return iterator.get_next()

    with tf.Graph().as_default(), tf.Session() as session:
        one, other = started(), started()
        assert not (tmp_path / "kept").exists()
        assert [session.run([one, other]) for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    (folder,) = (tmp_path / "kept").iterdir()
    assert len([each for each in folder.iterdir() if each.is_dir()]) == 1
