"""CSV files as datasets: fields over several lines, compression, chosen columns, and files that differ."""

import gzip

import pytest

import everflow as tf
from everflow.kernels.data.csv import _rows
from tests.data.draining import drain

pytestmark = pytest.mark.usefixtures("own_graph")


def rows(path, defaults, **options):
    return drain(tf.data.experimental.CsvDataset(str(path), defaults, **options))


def test_quoted_fields_go_over_several_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'1,"two\nlines"\r\n2,"a ""word"""\r\n3,plain')
    assert [(int(a), b) for a, b in rows(path, [tf.int32, tf.string])] == [
        (1, b"two\nlines"),
        (2, b'a "word"'),
        (3, b"plain"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"1,2\r3,4\r", [(b"1", b"2"), (b"3", b"4")]),
        (b"1,2\r\n3,4\r5,6\n7,8", [(b"1", b"2"), (b"3", b"4"), (b"5", b"6"), (b"7", b"8")]),
        (b'"a\rb",c\rd,"e\r\nf"', [(b"a\rb", b"c"), (b"d", b"e\r\nf")]),
    ],
)
def test_lines_end_with_carriage_returns_too(tmp_path, content, expected):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert rows(path, [tf.string] * 2) == expected


def test_compressed_files_with_headers(tmp_path):
    for i in range(2):
        (tmp_path / f"{i}.csv").write_bytes(gzip.compress(b"name,n\nx%d,%d\n" % (i, i)))
    paths = [str(tmp_path / f"{i}.csv") for i in range(2)]
    dataset = tf.data.experimental.CsvDataset(paths, [tf.string, tf.int64], compression_type="GZIP", header=True)
    assert [(a, int(b)) for a, b in drain(dataset)] == [(b"x0", 0), (b"x1", 1)]


def test_chosen_columns_and_missing_values(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1;x;NA\n2;y;0.5\n")
    found = rows(path, [tf.int32, [9.0]], select_cols=[0, 2], field_delim=";", na_value="NA")
    assert [(int(a), float(b)) for a, b in found] == [(1, 9.0), (2, 0.5)]


@pytest.mark.parametrize(
    ("text", "defaults"),
    [("1,2\n", [tf.int32]), ("x\n", [tf.int32]), ("1\n", [tf.int32, tf.int32]), (",1\n", [tf.int32] * 2)],
)
def test_lines_that_are_refused(tmp_path, text, defaults):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows(path, defaults)


def test_a_line_that_is_refused_costs_only_itself(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1\nx\n3\n")
    dataset = tf.data.experimental.CsvDataset(str(path), [tf.int32])
    assert [int(v[0]) for v in drain(dataset.apply(tf.data.experimental.ignore_errors()))] == [1, 3]


def test_columns_ascend(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n")
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        rows(path, [tf.int32, tf.int32], select_cols=[1, 0])
    with pytest.raises(tf.errors.NotFoundError):
        rows(tmp_path / "none", [tf.int32])


class InPieces:
    """A file that gives a few bytes at a time."""

    def __init__(self, data, size):
        self.data, self.size = data, size

    def read(self, count):
        piece, self.data = self.data[: self.size], self.data[self.size :]
        return piece


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_where_a_file_is_cut_does_not_matter(size):
    data = b'a,"b\nc"\r\n\n"d""\n",e\nlast'
    assert list(_rows(InPieces(data, size), True)) == [b'a,"b\nc"', b"", b'"d""\n",e', b"last"]
    assert list(_rows(InPieces(data, size), False)) == [b'a,"b', b'c"', b"", b'"d""', b'",e', b"last"]


def test_a_file_without_its_header_fails_once(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    element = tf.data.experimental.CsvDataset(str(tmp_path / "empty.csv"), [[0]], header=True)
    element = element.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="should begin with a header"):
            session.run(element)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_a_file_that_is_not_there_fails_each_time(tmp_path):
    element = tf.data.experimental.CsvDataset(str(tmp_path / "none.csv"), [[0]]).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.NotFoundError):
                session.run(element)


def test_there_is_a_default_for_each_chosen_column(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n")
    dataset = tf.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [[0], [0]], select_cols=[0])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="1 columns"):
        session.run(dataset.make_one_shot_iterator().get_next())


def test_an_empty_line_is_one_empty_field(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"1\n\n2\n")
    assert [int(n) for (n,) in rows(path, [[7]])] == [1, 7, 2]
    assert [int(n) for (n,) in rows(path, [[7]], select_cols=[0])] == [1, 7, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows(path, [tf.int32])
