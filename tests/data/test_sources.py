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


def test_what_looks_like_a_number_but_does_not_fit_is_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1e400,1e39,nan\n")
    data = tf.data.experimental.make_csv_dataset(str(path), 1, num_epochs=1)
    assert data.output_types == {"a": tf.string, "b": tf.float64, "c": tf.string}


def test_a_list_is_no_tuple_of_a_generator():
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError):
        drain(tf.data.Dataset.from_generator(lambda: iter([[1, 2]]), (tf.int64, tf.int64)))


def test_columns_are_numbered_from_zero_on(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n")
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError):
        drain(tf.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [tf.int32], select_cols=[-1]))


def test_rows_of_a_sparse_tensor_come_in_order():
    with tf.Graph().as_default(), pytest.raises(tf.errors.UnimplementedError):
        drain(tf.data.Dataset.from_sparse_tensor_slices(tf.SparseTensor([[1, 0], [0, 0]], [1.0, 2.0], [2, 1])))


def test_scalars_as_a_sparse_batch():
    with tf.Graph().as_default():
        (batch,) = drain(tf.data.Dataset.range(2).apply(tf.data.experimental.dense_to_sparse_batch(2, [])))
    assert batch.indices.tolist() == [[0], [1]] and batch.dense_shape.tolist() == [2]


def test_indices_without_values_are_refused():
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(tf.sparse_reorder(tf.SparseTensor([[0], [1]], tf.placeholder_with_default([1.0], [None]), [2])))


def test_rows_under_the_shapes_of_version_2():
    tf.compat.v1.enable_v2_tensorshape()
    try:
        with tf.Graph().as_default():
            assert drain(tf.data.Dataset.range(3).batch(2).unbatch()) == [0, 1, 2]
    finally:
        tf.compat.v1.disable_v2_tensorshape()


def test_a_one_shot_dataset_is_on_the_device_that_its_iterator_asked_for():
    with tf.Graph().as_default() as graph:
        dataset = tf.data.Dataset.range(3)
        with tf.device("/cpu:0"):
            element = dataset.make_one_shot_iterator().get_next()
    (definition,) = graph.as_graph_def().library.function
    assert {node.device for node in definition.node_def} == {"/device:CPU:0"}
    with tf.Session(graph=graph) as sess:
        assert [sess.run(element) for _ in range(3)] == [0, 1, 2]
