"""Lookup tables: static, from files, mutable and dense; buckets for unknown keys; what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf
from everflow.contrib import lookup

pytestmark = pytest.mark.usefixtures("own_graph")


def table(keys, values, default=-1):
    return lookup.HashTable(lookup.KeyValueTensorInitializer(keys, values), default)


def test_static_table():
    words = table(["a", "b"], np.int64([1, 2]))
    found = words.lookup(tf.constant([["b", "x"]]))
    sparse = words.lookup(tf.SparseTensor([[0, 1]], ["a"], [1, 2]))
    assert found.shape.as_list() == [1, 2]
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            sess.run(found)
        assert sess.run(words.size()) == 0
        sess.run(tf.tables_initializer())
        sess.run(tf.tables_initializer())
        assert sess.run(found).tolist() == [[2, -1]]
        assert sess.run(sparse).values.tolist() == [1]
        assert sess.run(words.size()) == 2
        keys, values = sess.run(words.export())
        assert dict(zip(keys, values)) == {b"a": 1, b"b": 2}
    with tf.Session() as other, pytest.raises(tf.errors.FailedPreconditionError):
        other.run(found)


@settings(max_examples=20, deadline=None)
@given(
    st.dictionaries(st.integers(-(2**40), 2**40), st.text(max_size=4), min_size=1, max_size=8),
    st.lists(st.integers(-9, 9), max_size=4),
)
def test_a_static_table_is_a_dictionary(entries, others):
    with tf.Graph().as_default():
        made = table(np.array(list(entries), np.int64), list(entries.values()), "?")
        asked = [*entries, *others]
        with tf.Session() as sess:
            sess.run(made.init)
            found = sess.run(made.lookup(tf.constant(np.array(asked, np.int64))))
        assert found.tolist() == [entries.get(k, "?").encode() for k in asked]


def test_static_tables_refused():
    with pytest.raises(TypeError, match="Signature mismatch"):
        table(["a"], [1]).lookup(tf.constant([1]))
    with pytest.raises(TypeError):
        table(["a"], ["b"], 0)
    with pytest.raises(ValueError):
        table(["a"], [1], [1, 2])
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
            sess.run(table(["a", "a"], [1, 2]).init)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape"):
            sess.run(table(["a", "b"], tf.placeholder_with_default([1], [None])).init)


def test_buckets_for_unknown_words():
    made = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], np.int64([0, 1])), 3)
    numbers = lookup.index_table_from_tensor(np.int64([5, 6]), num_oov_buckets=3, dtype=tf.int64)
    strong = lookup.IdTableWithHashBuckets(None, 100, hasher_spec=lookup.StrongHashSpec([1, 2]))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        found = sess.run(made.lookup(tf.constant(["b", "a", "zebra"])))
        assert found[:2].tolist() == [1, 0] and 2 <= found[2] < 5
        assert sess.run(made.size()) == 5
        assert sess.run(numbers.lookup(tf.constant([5, 77, -3], tf.int64))).tolist() == [0, 2, 2]
        assert 0 <= sess.run(strong.lookup(tf.constant(["a"])))[0] < 100
    with pytest.raises(ValueError):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], np.int64([0])), 0)
    with pytest.raises(TypeError):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0.5]), 1)


def test_a_static_table_says_that_it_can_not_be_changed():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    insert = tf.raw_ops.LookupTableInsertV2(table_handle=table.resource_handle, keys=["a"], values=[3])
    remove = tf.raw_ops.LookupTableRemoveV2(table_handle=table.resource_handle, keys=["a"])
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        for change in (insert, remove):
            with pytest.raises(tf.errors.InvalidArgumentError, match="can't be changed"):
                sess.run(change)


def test_the_classes_of_tensorflow_1():
    table = lookup.index_table_from_tensor(["a", "b"])
    assert type(table).__name__ == tf.lookup.StaticHashTable.__name__ == "StaticHashTableV1"
    assert isinstance(table, tf.compat.v2.lookup.StaticHashTable)


def test_the_shape_of_what_a_dense_table_exports():
    table = lookup.MutableDenseHashTable(tf.int64, tf.float32, default_value=[0.0, 0.0], empty_key=0, deleted_key=-1)
    keys, values = table.export()
    assert keys.shape.as_list() == [None] and values.shape.as_list() == [None, 2]
