"""Readers: the records of files in a queue, keys, counts, and a state that can be put back."""

import gzip

import pytest

import everflow as tf


def reading(sess, reader, *work):
    """(key, value) ops of a reader on a queue that has these, and is closed."""
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    sess.run(queue.enqueue_many([list(work)]))
    sess.run(queue.close())
    return queue, reader.read(queue)


def drained(sess, pair):
    found = []
    while True:
        try:
            found.append(tuple(sess.run(list(pair))))
        except tf.errors.OutOfRangeError:
            return found


def test_lines(sess, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"header\none\r\n\nlast")
    name = str(path).encode()
    _, pair = reading(sess, tf.TextLineReader(skip_header_lines=1), str(path))
    assert drained(sess, pair) == [(name + b":2", b"one"), (name + b":3", b""), (name + b":4", b"last")]


def test_whole_files(sess, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name * 3)
    _, pair = reading(sess, tf.WholeFileReader(), str(tmp_path / "a"), str(tmp_path / "b"))
    assert [value for _, value in drained(sess, pair)] == [b"aaa", b"bbb"]


@pytest.mark.parametrize("packed", [False, True])
def test_records_of_one_size(sess, tmp_path, packed):
    data = b"HEADaabbccxFOOT"
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(data) if packed else data)
    reader = tf.FixedLengthRecordReader(2, header_bytes=4, footer_bytes=4, encoding="GZIP" if packed else None)
    _, pair = reading(sess, reader, str(path))
    assert [value for _, value in drained(sess, pair)] == [b"aa", b"bb", b"cc"]


def test_records_that_overlap(sess, tmp_path):
    (tmp_path / "a").write_bytes(b"abcde")
    _, pair = reading(sess, tf.FixedLengthRecordReader(3, hop_bytes=1), str(tmp_path / "a"))
    assert [value for _, value in drained(sess, pair)] == [b"abc", b"bcd", b"cde"]


@pytest.mark.parametrize("kind", ["NONE", "GZIP", "ZLIB"])
def test_record_files(sess, tmp_path, kind):
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, kind))
    path = str(tmp_path / "a")
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for text in (b"one", b"", b"three"):
            writer.write(text)
    _, pair = reading(sess, tf.TFRecordReader(options=options), path)
    assert drained(sess, pair) == [
        (path.encode() + b":0", b"one"),
        (path.encode() + b":19", b""),
        (path.encode() + b":35", b"three"),
    ]


def test_some_at_a_time_are_of_one_file(sess, tmp_path):
    for name, lines in (("a", "1\n2\n3\n"), ("b", "4\n")):
        (tmp_path / name).write_text(lines)
    reader = tf.TextLineReader()
    queue, _ = reading(sess, reader, str(tmp_path / "a"), str(tmp_path / "b"))
    several = reader.read_up_to(queue, 2)[1]
    produced, finished = reader.num_records_produced(), reader.num_work_units_completed()
    assert [sess.run(several).tolist() for _ in range(3)] == [[b"1", b"2"], [b"3"], [b"4"]]
    assert sess.run(produced) == 4 and sess.run(finished) >= 1
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(several)


def test_counts_and_starting_anew(sess):
    reader = tf.IdentityReader()
    _, pair = reading(sess, reader, "a", "b", "c")
    produced, reset = reader.num_records_produced(), reader.reset()
    assert sess.run(pair.value) == b"a" and sess.run(produced) == 1
    sess.run(reset)
    assert sess.run(produced) == 0
    assert [value for _, value in drained(sess, pair)] == [b"b", b"c"]


def test_a_state_is_put_back(sess):
    reader = tf.IdentityReader()
    _, pair = reading(sess, reader, "a", "b")
    sess.run(pair.value)
    state = sess.run(reader.serialize_state())
    sess.run(pair.value)
    sess.run(reader.restore_state(state))
    assert sess.run(reader.num_records_produced()) == 1
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(tf.TextLineReader().serialize_state())


def test_a_missing_file_costs_only_itself(sess, tmp_path):
    (tmp_path / "b").write_text("there\n")
    _, pair = reading(sess, tf.TextLineReader(), str(tmp_path / "none"), str(tmp_path / "b"))
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(pair.value)
    assert sess.run(pair.value) == b"there"


@pytest.mark.parametrize("options", [{"record_bytes": 2, "header_bytes": -1}, {"record_bytes": 2, "hop_bytes": -1}])
def test_sizes_that_can_not_be(sess, options):
    reader = tf.FixedLengthRecordReader(**options)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(reader.num_records_produced())
