"""Rows of databases: how fields become numbers and words, and databases that aren't there."""

import sqlite3

import pytest

import everflow as tf
from everflow.kernels.data.sql import _number
from tests.data.draining import drain

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "a.db")
    connection = sqlite3.connect(path)
    connection.execute("create table t (n integer, word text, x real, data blob)")
    connection.executemany("insert into t values (?, ?, ?, ?)", [(i, f"w{i}", i / 2, b"\xff") for i in range(3)])
    connection.commit()
    connection.close()
    return path


def rows(path, query, types):
    return drain(tf.data.experimental.SqlDataset("sqlite", path, query, types))


@pytest.mark.parametrize(
    ("field", "number"),
    [(7, 7), (1.5, 1.5), (None, 0), (b"12", 12), (b" -3.5e2x", -350), (b".5", 0.5), (b"x1", 0), (b"", 0), (b"1e", 1)],
)
def test_words_as_numbers(field, number):
    assert _number(field) == number


def test_rows_in_order_and_again(database):
    dataset = tf.data.experimental.SqlDataset(
        "sqlite", database, "select n, data from t order by n desc", (tf.int64, tf.string)
    )
    assert [(int(n), data) for n, data in drain(dataset.repeat(2))] == [(i, b"\xff") for i in (2, 1, 0)] * 2


@pytest.mark.parametrize("dtype", [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.float64, tf.bool])
def test_types(database, dtype):
    got = rows(database, "select n from t", (dtype,))
    assert [value.dtype for (value,) in got] == [dtype.as_numpy_dtype] * 3
    assert [int(value) for (value,) in got] == ([0, 1, 1] if dtype == tf.bool else [0, 1, 2])


def test_no_rows(database):
    assert rows(database, "select n from t where n > 5", (tf.int32,)) == []


@pytest.mark.parametrize("query", ["select", "select nothing from t", "select n from nowhere"])
def test_queries_that_can_not_be(database, query):
    with pytest.raises(tf.errors.UnknownError):
        rows(database, query, (tf.int32,))


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(tf.errors.UnknownError):
        rows(str(tmp_path / "none.db"), "select 1", (tf.int32,))
    assert not list(tmp_path.iterdir())


def test_changes_give_no_rows(database):
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of columns"):
        rows(database, "insert into t (word) values ('w')", (tf.int32, tf.string))
