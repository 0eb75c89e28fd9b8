"""MutableDenseHashTable, index tables from tensors and files, buckets of what is unknown, export and import."""

import numpy as np
import tensorflow as tf


def run(out):
    with open("words.txt", "w") as f:
        f.write("brain\nsalad\nsurgery\n")
    t = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.float32, default_value=-1.0, empty_key=0, deleted_key=-2, name="dense"
    )
    ins, look = t.insert([5, 6, 7], [0.5, 0.6, 0.7]), t.lookup(tf.constant([5, 6, 9], tf.int64))
    size, export = t.size(), t.export()
    remove = t.remove(tf.constant([6], tf.int64))
    vec = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, default_value=[-1, -1], empty_key=[0, 0], deleted_key=[-9, -9]
    )
    vin, vlook = vec.insert([[1, 2], [3, 4]], [[10, 20], [30, 40]]), vec.lookup(tf.constant([[3, 4], [5, 6]], tf.int64))
    index = tf.contrib.lookup.index_table_from_file("words.txt", num_oov_buckets=2, vocab_size=2)
    ids = index.lookup(tf.constant([["brain", "salad"], ["surgery", "tarkus"]]))
    from_tensor = tf.contrib.lookup.index_table_from_tensor(["a", "b", "c"], num_oov_buckets=1, default_value=-1)
    more = from_tensor.lookup(tf.SparseTensor([[0, 0], [1, 2]], ["b", "zz"], [2, 3]))
    ints = tf.contrib.lookup.index_table_from_tensor(
        tf.constant([10, 20, 30], tf.int64), dtype=tf.int64, num_oov_buckets=3
    )
    int_ids = ints.lookup(tf.constant([20, 99, 100, 101], tf.int64))
    back = tf.contrib.lookup.index_to_string_table_from_file("words.txt", default_value="?")
    words = back.lookup(tf.constant([2, 0, 7], tf.int64))
    kv = tf.contrib.lookup.HashTable(
        tf.contrib.lookup.TextFileInitializer(
            "words.txt",
            tf.string,
            tf.contrib.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.contrib.lookup.TextFileIndex.LINE_NUMBER,
        ),
        -5,
    )
    strong = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["x", "y"], tf.constant([0, 1], tf.int64)), 4, lookup_key_dtype=tf.string
    )
    s_ids = strong.lookup(tf.constant(["x", "q", "r", "s"]))
    out(
        "names",
        [index.name is not None, kv.size().dtype.name, t.key_dtype.name, vec.value_dtype.name, strong.size().op.type],
    )
    out.raises("key type", kv.lookup, tf.constant([1]))
    out.raises("value type", t.insert, [1], ["a"])
    out.raises("no buckets", tf.contrib.lookup.index_table_from_tensor, ["a"], num_oov_buckets=-1)
    out.raises("no file", tf.contrib.lookup.index_table_from_file, None)
    out.raises("hasher", tf.contrib.lookup.IdTableWithHashBuckets, kv, 2, hasher_spec=1)
    bad = tf.contrib.lookup.index_table_from_file("gone.txt")
    with tf.Session() as sess:
        out.raises("before init", sess.run, ids)
        out.raises("file gone", sess.run, bad.initializer)
        sess.run(
            [table.initializer for table in (index, from_tensor, ints, back, kv, strong)]
            if hasattr(strong, "initializer")
            else tf.tables_initializer()
        )
        sess.run([ins, vin])
        out("dense", sess.run([look, size]))
        keys, values = sess.run(export)
        out("export", sorted(zip(keys.tolist(), np.round(values, 3).tolist())))
        sess.run(remove)
        out("removed", sess.run([look, size]))
        out.raises("empty key", sess.run, t.insert([0], [1.0]))
        out("vectors", sess.run(vlook))
        out("ids", sess.run([ids, more, int_ids, words, s_ids, kv.size(), index.size(), strong.size()]))
        out("kv", sess.run(kv.lookup(tf.constant(["salad", "none"]))))
