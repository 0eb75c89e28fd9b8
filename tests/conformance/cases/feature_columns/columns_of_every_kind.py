"""Every feature column in input_layer, linear_model and DenseFeatures: crosses, buckets, weighted, shared embeddings, sequence, hashed, files; parse specs."""

import numpy as np
import tensorflow as tf

F = tf.feature_column


def run(out):
    tf.set_random_seed(1)
    with open("vocab.txt", "w") as f:
        f.write("x\ny\nz\n")
    age, price = (
        F.numeric_column("age"),
        F.numeric_column("price", shape=[2], normalizer_fn=lambda t: t / 10.0, default_value=[1.0, 2.0]),
    )
    bucket = F.bucketized_column(age, [18.0, 30.0, 60.0])
    word = F.categorical_column_with_vocabulary_list("word", ["a", "b", "c"], num_oov_buckets=2)
    files = F.categorical_column_with_vocabulary_file("file", "vocab.txt", 3, default_value=0)
    hashed, ident = (
        F.categorical_column_with_hash_bucket("hash", 7),
        F.categorical_column_with_identity("id", 5, default_value=4),
    )
    weighted = F.weighted_categorical_column(word, "weight")
    crossed = F.crossed_column([bucket, "word", ident], 11, hash_key=3)
    init = tf.random_uniform_initializer(-1, 1, seed=6)
    emb = F.embedding_column(hashed, 2, combiner="sum", initializer=init, max_norm=1.0)
    shared = F.shared_embedding_columns([ident, F.categorical_column_with_identity("id2", 5)], 3, initializer=init)
    dense = [
        age,
        price,
        bucket,
        F.indicator_column(word),
        F.indicator_column(weighted),
        emb,
        F.indicator_column(crossed),
        F.embedding_column(files, 2, initializer=init),
    ] + shared
    features = {
        "age": tf.constant([[10.0], [20.0], [70.0]]),
        "price": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "word": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "zz", "c"], [3, 2]),
        "weight": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 2.0, 3.0], [3, 2]),
        "file": tf.constant([["x"], ["q"], ["z"]]),
        "hash": tf.constant([["k", ""], ["l", "m"], ["k", "k"]]),
        "id": tf.placeholder_with_default([[1], [-1], [9]], [None, 1]),
        "id2": tf.constant([[1], [2], [0]]),
    }
    cols = {}
    layer = F.input_layer(features, dense, cols_to_vars=cols)
    out("cols", sorted((c.name, [v.name for v in vs]) for c, vs in cols.items()))
    lin = {}
    linear = F.linear_model(
        features,
        [age, bucket, word, weighted, crossed, hashed],
        units=2,
        sparse_combiner="mean",
        cols_to_vars=lin,
        trainable=False,
    )
    out("lin", sorted((c if isinstance(c, str) else c.name, [v.name for v in vs]) for c, vs in lin.items()))
    keras = tf.keras.layers.DenseFeatures(
        [age, F.indicator_column(files), F.embedding_column(ident, 2, initializer=init)]
    )(features)
    seq = (
        F.sequence_categorical_column_with_identity("s", 4, default_value=0)
        if hasattr(F, "sequence_categorical_column_with_identity")
        else tf.contrib.feature_column.sequence_categorical_column_with_identity("s", 4, default_value=0)
    )
    num = tf.contrib.feature_column.sequence_numeric_column("n", shape=[1])
    s_out, s_len = tf.contrib.feature_column.sequence_input_layer(
        {
            "s": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 2, 3], tf.int64), [2, 3]),
            "n": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 1.5, 2.5], [2, 3]),
        },
        [tf.feature_column.embedding_column(seq, 2, initializer=init), num],
    )
    spec = F.make_parse_example_spec(dense)
    out("spec", sorted((k, type(v).__name__, str(v.dtype)) for k, v in spec.items()))
    out("facts", [[c.name, getattr(c, "num_buckets", None) if "embedding" not in c.name else None] for c in dense])
    out.raises("missing", F.input_layer, {"age": features["age"]}, [price])
    out.raises("categorical", F.input_layer, features, [word])
    out.raises("twice", F.input_layer, features, [age, F.numeric_column("age")])
    out.raises("boundaries", F.bucketized_column, age, [3.0, 1.0])
    out.raises("bucketize", F.bucketized_column, word, [1.0])
    out.raises("dimension", F.embedding_column, word, 0)
    out.raises("cross one", F.crossed_column, ["word"], 5)
    out.raises("cross hashed", F.crossed_column, ["word", hashed], 5)
    out.raises("shape", F.numeric_column, "a", shape=[0])
    out.raises("buckets", F.categorical_column_with_identity, "a", 0)
    out.raises("vocab dup", F.categorical_column_with_vocabulary_list, "a", ["x", "x"])
    out.raises(
        "oov and default", F.categorical_column_with_vocabulary_list, "a", ["x"], default_value=1, num_oov_buckets=1
    )
    out.raises("shared kinds", F.shared_embedding_columns, [ident, word], 2)
    out.raises("key", F.numeric_column, 3)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for n, v in (("layer", layer), ("linear", linear), ("keras", keras), ("seq", [s_out, s_len])):
            out(n, sess.run(v), rtol=1e-4)
