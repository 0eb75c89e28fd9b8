"""Datasets of files: compression, files one after the other, missing and damaged ones."""

import gzip
import zlib

import pytest

import everflow as tf
from everflow.kernels.data.files import lines_of
from tests.data.draining import drain
from tests.kernels.data.test_csv import InPieces

pytestmark = pytest.mark.usefixtures("own_graph")

PACKERS = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


@pytest.mark.parametrize("kind", PACKERS)
def test_lines_of_several_files(tmp_path, kind):
    names = []
    for i, text in enumerate([b"a\nb\n", b"", b"\nlast"]):
        names.append(str(tmp_path / str(i)))
        (tmp_path / str(i)).write_bytes(PACKERS[kind](text))
    assert drain(tf.data.TextLineDataset(names, compression_type=kind)) == [b"a", b"b", b"", b"last"]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_where_a_file_is_cut_does_not_matter(size):
    assert list(lines_of(InPieces(b"one\r\n\r\ntwo\nthree", size))) == [b"one", b"", b"two", b"three"]


@pytest.mark.parametrize("kind", PACKERS)
def test_records_there_and_back(tmp_path, kind):
    path = str(tmp_path / "a")
    words = tf.data.Dataset.from_tensor_slices(["x", "", "yz" * 1000])
    with tf.Session() as sess:
        sess.run(tf.data.experimental.TFRecordWriter(path, kind or None).write(words))
    assert drain(tf.data.TFRecordDataset(path, kind)) == [b"x", b"", b"yz" * 1000]


def test_damaged_records_are_told(tmp_path):
    path = tmp_path / "a"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        writer.write(b"first")
        writer.write(b"second")
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(bytes(data))
    following = tf.data.TFRecordDataset(str(path)).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(following) == b"first"
        with pytest.raises(tf.errors.DataLossError):
            sess.run(following)


@pytest.mark.parametrize("kind", PACKERS)
def test_records_of_one_size(tmp_path, kind):
    path = tmp_path / "a"
    path.write_bytes(PACKERS[kind](b"HaabbccFF"))
    dataset = tf.data.FixedLengthRecordDataset(
        str(path), 2, header_bytes=1, footer_bytes=2, compression_type=kind or None
    )
    assert drain(dataset) == [b"aa", b"bb", b"cc"]


def test_a_body_that_is_no_multiple(tmp_path):
    (tmp_path / "a").write_bytes(b"aabbc")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Excess bytes"):
        drain(tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 2))


@pytest.mark.parametrize("kind", [tf.data.TextLineDataset, tf.data.TFRecordDataset])
def test_what_can_not_be_opened(tmp_path, kind):
    with pytest.raises(tf.errors.NotFoundError):
        drain(kind([str(tmp_path / "none")]))
    # A word that the reader of records doesn't know says nothing to it.
    unknown = tf.errors.NotFoundError if kind is tf.data.TFRecordDataset else tf.errors.InvalidArgumentError
    with pytest.raises(unknown):
        drain(kind([str(tmp_path / "none")], compression_type="ZIP"))


def outcomes(dataset, count):
    """What comes so many times: values, or names of errors."""
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as sess:
        for _ in range(count):
            try:
                found.append(sess.run(following))
            except tf.errors.OpError as error:
                found.append(type(error).__name__)
    return found


def fixed(names, kind):
    return tf.data.FixedLengthRecordDataset(names, 4, 1, 2, compression_type=kind)


@pytest.mark.parametrize("in_blocks", [True, False])
@pytest.mark.parametrize("make", [tf.data.TextLineDataset, tf.data.TFRecordDataset, lambda names: fixed(names, "")])
def test_a_file_that_is_missing_is_asked_for_again_and_again(tmp_path, make, in_blocks):
    (tmp_path / "there").write_bytes(b"habcdff")
    dataset = make([str(tmp_path / "missing"), str(tmp_path / "there")])
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = in_blocks
    assert outcomes(dataset.batch(2).with_options(options), 3) == ["NotFoundError"] * 3
    assert drain(dataset.apply(tf.data.experimental.ignore_errors())) == []


def test_lines_stay_where_they_can_not_be_read_and_records_go_on(tmp_path):
    (tmp_path / "no gzip").write_bytes(b"this is text")
    (tmp_path / "lines").write_bytes(gzip.compress(b"a\nb"))
    names = [str(tmp_path / "no gzip"), str(tmp_path / "lines")]
    assert outcomes(tf.data.TextLineDataset(names, "GZIP"), 3) == ["DataLossError"] * 3
    assert outcomes(tf.data.TFRecordDataset(names[:1] * 2, "GZIP"), 3) == ["DataLossError"] * 2 + ["OutOfRangeError"]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"habcdefghff", [b"abcd", b"efgh", "OutOfRangeError"]),
        (b"habcdefghijff", [b"abcd", b"efgh", "DataLossError", "OutOfRangeError"]),
        (b"habcdefgh", [b"abcd", "DataLossError", "OutOfRangeError"]),
        (b"", ["InternalError", "OutOfRangeError"]),
    ],
)
def test_a_compressed_file_shows_at_its_end_that_bytes_are_missing(tmp_path, content, wanted):
    (tmp_path / "a").write_bytes(zlib.compress(content))
    assert outcomes(fixed(str(tmp_path / "a"), "ZLIB"), len(wanted)) == wanted
    if len(content) % 4 != 3:
        (tmp_path / "a").write_bytes(content)
        assert outcomes(fixed(str(tmp_path / "a"), ""), 2) == ["InvalidArgumentError"] * 2


def test_a_file_ends_where_its_first_compressed_stream_does(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c") + b"and more")
    assert drain(tf.data.TextLineDataset(str(tmp_path / "a"), "GZIP")) == [b"a", b"b"]


def test_lines_have_no_carriage_returns(tmp_path):
    (tmp_path / "a").write_bytes(b"a\rb\r\nc\r\r\n\r\nlast\r")
    assert drain(tf.data.TextLineDataset(str(tmp_path / "a"))) == [b"ab", b"c", b"", b"last"]
