"""Readers: records of files whose names a queue gives."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


@pytest.fixture
def files(tmp_path):
    names = [str(tmp_path / name) for name in ("one", "two")]
    for name, text in zip(names, ("head\na\nbb\n", "head\nccc\n")):
        with open(name, "w") as file:
            file.write(text)
    return names


def queue_of(sess, names):
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    sess.run([queue.enqueue_many([names])])
    sess.run(queue.close())
    return queue


def read_all(sess, reader, queue):
    pair, found = reader.read(queue), []
    while True:
        try:
            found.append(tuple(v.decode().rpartition("/")[2] for v in sess.run(pair)))
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tf.WholeFileReader(), [("one", "head\na\nbb\n"), ("two", "head\nccc\n")]),
        (lambda: tf.TextLineReader(skip_header_lines=1), [("one:2", "a"), ("one:3", "bb"), ("two:2", "ccc")]),
        (
            lambda: tf.TextLineReader(),
            [("one:1", "head"), ("one:2", "a"), ("one:3", "bb"), ("two:1", "head"), ("two:2", "ccc")],
        ),
        (
            lambda: tf.FixedLengthRecordReader(2, header_bytes=5),
            [("one:0", "a\n"), ("one:1", "bb"), ("two:0", "cc"), ("two:1", "c\n")],
        ),
        (
            lambda: tf.FixedLengthRecordReader(4, footer_bytes=4, hop_bytes=1),
            [("one:0", "head"), ("one:1", "ead\n"), ("one:2", "ad\na"), ("two:0", "head"), ("two:1", "ead\n")],
        ),
        (lambda: tf.IdentityReader(), [("one", "one"), ("two", "two")]),
    ],
)
def test_records(sess, files, make, expected):
    assert read_all(sess, make(), queue_of(sess, files)) == expected


@pytest.mark.parametrize("kind", ["NONE", "ZLIB", "GZIP"])
def test_records_of_tensorflows_files(sess, tmp_path, kind):
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, kind))
    with tf.python_io.TFRecordWriter(str(tmp_path / "r"), options) as writer:
        writer.write(b"a")
        writer.write(b"bb")
    found = read_all(sess, tf.TFRecordReader(options=options), queue_of(sess, [str(tmp_path / "r")]))
    assert [record for _, record in found] == ["a", "bb"]


def test_several_at_a_time_and_what_was_counted(sess, files):
    reader, queue = tf.TextLineReader(), queue_of(sess, files)
    some = reader.read_up_to(queue, 2)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    assert [t.shape.as_list() for t in some] == [[None], [None]]
    assert [len(sess.run(some)[1]) for _ in range(3)] == [2, 1, 2]
    assert sess.run(counts) == [5, 1]
    sess.run(reader.reset())
    assert sess.run(counts) == [0, 0]


@pytest.mark.parametrize("make", [tf.WholeFileReader, tf.IdentityReader])
def test_where_reading_is_can_be_kept(sess, files, make):
    reader, queue = make(), queue_of(sess, files)
    key, _ = reader.read(queue)
    assert reader.supports_serialize
    sess.run(key)
    state = sess.run(reader.serialize_state())
    sess.run(key)
    assert sess.run(reader.num_records_produced()) == 2
    sess.run(reader.restore_state(state))
    assert sess.run(reader.num_records_produced()) == 1


def test_where_it_cannot(sess, files):
    reader = tf.TextLineReader()
    assert not reader.supports_serialize
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(reader.serialize_state())


def test_a_file_that_is_not_there(sess, tmp_path):
    queue = queue_of(sess, [str(tmp_path / "none")])
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(tf.WholeFileReader().read(queue))


def test_a_reader_of_single_records_has_finished_each_with_it():
    with tf.Graph().as_default(), tf.Session() as sess:
        reader, queue = tf.IdentityReader(), tf.FIFOQueue(5, tf.string, [[]])
        sess.run(queue.enqueue_many([["a", "b"]]))
        sess.run(reader.read(queue).value)
        assert sess.run(reader.serialize_state()) == b'\x08\x01\x10\x01\x18\x01"\x01a'
        assert sess.run(reader.num_work_units_completed()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(reader.restore_state("bogus"))


def test_readers_are_for_graphs():
    with eager_mode(), pytest.raises(RuntimeError):
        tf.TextLineReader()


def test_states_and_patterns_have_a_known_rank():
    with tf.Graph().as_default():
        with pytest.raises(ValueError):
            tf.IdentityReader().restore_state(tf.constant(["a", "b"]))
        with pytest.raises(ValueError):
            tf.matching_files([["a"]])
