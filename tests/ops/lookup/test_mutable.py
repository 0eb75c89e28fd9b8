"""Tables that change while a graph runs."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import lookup

pytestmark = pytest.mark.usefixtures("own_graph")


def test_mutable_table():
    made = lookup.MutableHashTable(tf.string, tf.int64, -1, name="words")
    keys = tf.placeholder(tf.string, [None])
    with tf.Session() as sess:
        sess.run(made.insert(["a", "b"], [1, 2]))
        sess.run(made.insert(["a"], [9]))
        assert sess.run(made.lookup(keys), {keys: ["a", "b", "c"]}).tolist() == [9, 2, -1]
        sess.run(made.remove(tf.constant(["b", "nobody"])))
        assert sess.run(made.size()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape"):
            sess.run(made.insert(keys, tf.constant([1], tf.int64)), {keys: ["a", "b"]})
    with tf.Session() as sess:
        assert sess.run(made.size()) == 0
    (saved,) = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    assert [spec.name for spec in saved.specs] == ["words-keys", "words-values"]


def test_vector_values():
    made = lookup.MutableHashTable(tf.int64, tf.float32, [0.5, 0.5])
    assert made.lookup(tf.placeholder(tf.int64, [None])).shape.as_list() == [None, 2]
    with tf.Session() as sess:
        sess.run(made.insert(np.int64([3]), [[1.0, 2.0]]))
        assert sess.run(made.lookup(np.int64([[3], [4]]))).tolist() == [[[1, 2]], [[0.5, 0.5]]]


def test_dense_table():
    made = lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, -9, initial_num_buckets=4)
    with tf.Session() as sess:
        sess.run(made.insert(np.int64([11, 12, 13, 14, 15]), np.int64([1, 2, 3, 4, 5])))
        sess.run(made.remove(tf.constant([12], tf.int64)))
        assert sess.run(made.lookup(np.int64([12, 13]))).tolist() == [-1, 3]
        keys, values = sess.run(made.export())
        assert keys.ravel().tolist() == [0, 0, 0, 11, -9, 13, 14, 15] and values.ravel().tolist() == [
            0,
            0,
            0,
            1,
            2,
            3,
            4,
            5,
        ]
        for key, what in ((0, "empty_key"), (-9, "deleted_key")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=what):
                sess.run(made.lookup(np.int64([key])))
        with pytest.raises(tf.errors.InvalidArgumentError, match="power of 2"):
            sess.run(lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, -9, initial_num_buckets=3).size())


@pytest.mark.parametrize("kind", ["hash", "dense"])
def test_tables_are_saved_and_restored(tmp_path, kind):
    def table():
        if kind == "hash":
            return lookup.MutableHashTable(tf.int64, tf.float32, 0.5, name="table")
        return lookup.MutableDenseHashTable(tf.int64, tf.float32, 0.5, -1, -2, name="table")

    keys, values = np.int64([7, 8]), np.float32([1.5, 2.5])
    with tf.Graph().as_default(), tf.Session() as sess:
        made = table()
        sess.run(made.insert(keys, values))
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as sess:
        made = table()
        tf.train.Saver().restore(sess, path)
        assert sess.run(made.lookup(np.int64([8, 7, 9]))).tolist() == [2.5, 1.5, 0.5]
        assert sess.run(made.size()) == 2


def test_a_table_that_no_checkpoint_holds():
    lookup.MutableHashTable(tf.string, tf.int64, 0, checkpoint=False)
    assert tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) == []


def test_keys_of_other_types_are_refused():
    table = lookup.MutableHashTable(tf.string, tf.int64, 0)
    with pytest.raises(ValueError):
        table.lookup(tf.constant([1]))
    with pytest.raises(TypeError):
        table.remove(tf.constant([1]))


def test_the_dense_table_of_version_two():
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int32, 0, empty_key=-1, deleted_key=-2)
    with tf.Session() as sess:
        sess.run(table.insert_or_assign(np.int64([1, 2]), [10, 20]))
        sess.run(table.erase(tf.constant([1], tf.int64)))
        assert sess.run(table.lookup(np.int64([1, 2]))).tolist() == [0, 20]
    assert table.lookup(tf.placeholder(tf.int64, [None, 3])).shape.as_list() == [None, 3]


def test_a_checkpoint_of_objects_holds_a_table(tmp_path):
    made = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
    checkpoint = tf.train.Checkpoint(table=made)
    with tf.Session() as sess:
        sess.run(made.insert(tf.constant([1], tf.int64), tf.constant([10], tf.int64)))
        path = checkpoint.save(str(tmp_path / "saved"), session=sess)
    assert "table/.ATTRIBUTES/table-keys" in dict(tf.train.list_variables(path))
    with tf.Session() as sess:
        checkpoint.restore(path).run_restore_ops(sess)
        assert sess.run(made.lookup(tf.constant([1, 2], tf.int64))).tolist() == [10, -1]


def test_tables_of_types_that_tensorflow_has_none_for():
    for key, value in ((tf.float32, tf.int64), (tf.int32, tf.int64), (tf.bool, tf.int64)):
        with tf.Graph().as_default(), tf.Session() as sess:
            table = lookup.MutableHashTable(key, value, 0)
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(table.size())
