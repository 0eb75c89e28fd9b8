"""Databases and resampling."""

import sqlite3

import pytest

import everflow as tf
from tests.data.draining import drain


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "people.db")
    connection = sqlite3.connect(path)
    connection.execute("create table people (age integer, name text, height real)")
    connection.executemany("insert into people values (?, ?, ?)", [(1, "x", 1.5), (2, None, 2.5), (300, "z", None)])
    connection.commit()
    connection.close()
    return path


def _query(database, query, types, driver="sqlite"):
    with tf.Graph().as_default():
        return drain(tf.data.experimental.SqlDataset(driver, database, query, types))


def test_rows_of_a_query(database):
    rows = _query(database, "select age, name, height from people", (tf.int64, tf.string, tf.float64))
    assert rows == [(1, b"x", 1.5), (2, b"", 2.5), (300, b"z", 0.0)]


def test_fields_become_the_types_that_are_asked_for(database):
    assert _query(database, "select age from people", (tf.uint8,)) == [(1,), (2,), (44,)]
    assert _query(database, "select age from people", tf.string) == [b"1", b"2", b"300"]
    assert _query(database, "select height from people", (tf.int32,)) == [(1,), (2,), (0,)]
    assert _query(database, "select name from people", (tf.int32,)) == [(0,)] * 3
    assert _query(database, "select age from people", (tf.bool,)) == [(True,)] * 3


@pytest.mark.parametrize(
    ("query", "types", "driver", "error"),
    [
        ("select age, name from people", (tf.int32,), "sqlite", tf.errors.InvalidArgumentError),
        ("select age from people", (tf.float32,), "sqlite", tf.errors.InvalidArgumentError),
        ("select age from people", (tf.int32,), "mysql", tf.errors.InvalidArgumentError),
        ("select nothing from people", (tf.int32,), "sqlite", tf.errors.UnknownError),
    ],
)
def test_queries_that_cannot_be(database, query, types, driver, error):
    with pytest.raises(error):
        _query(database, query, types, driver)


@pytest.mark.parametrize("initial", [None, [0.6, 0.4]])
def test_rejection_resample_brings_classes_into_proportion(initial):
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        dataset = tf.data.Dataset.from_tensor_slices(([0, 1, 0, 0, 1] * 200, list(range(1000))))
        resample = tf.data.experimental.rejection_resample(lambda value, _: value, [0.3, 0.7], initial, seed=7)
        rows = drain(dataset.apply(resample).take(300))
    assert all(chosen == value for chosen, (value, _) in rows)
    assert sum(chosen for chosen, _ in rows) / len(rows) == pytest.approx(0.7, abs=0.1)


def test_an_input_that_ends_stops_the_run_before_anything_changes():
    with tf.Graph().as_default():
        count = tf.Variable(0)
        add = count.assign_add(1)
        element = tf.data.Dataset.range(2).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            session.run(count.initializer)
            for _ in range(2):
                session.run([add, element])
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run([add, element])
            assert session.run(count) == 2
