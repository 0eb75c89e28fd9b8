"""Columns: what they are named, how they are checked, and what they make of features. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf

fc = tf.feature_column


def sparse(rows, dtype=tf.int64):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [value for row in rows for value in row]
    return tf.SparseTensor(
        np.array(indices, "int64").reshape(-1, 2), tf.constant(values, dtype), [len(rows), max(map(len, rows))]
    )


def layer(features, column):
    """The input layer of one column, as lists; features are made in a graph of their own."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        output = fc.input_layer(features(), [column])
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(output).round(4).tolist()


IDS = fc.categorical_column_with_identity("i", 4)


def ids():
    return sparse([[0, 2], [], [3, 3, 1]])


@pytest.mark.parametrize(
    "column, name",
    [
        (fc.numeric_column("x"), "x"),
        (fc.bucketized_column(fc.numeric_column("x"), [1.0]), "x_bucketized"),
        (fc.indicator_column(IDS), "i_indicator"),
        (fc.embedding_column(IDS, 2), "i_embedding"),
        (fc.weighted_categorical_column(IDS, "w"), "i_weighted_by_w"),
        (fc.crossed_column(["z", IDS, fc.crossed_column(["a", "b"], 3)], 5), "a_X_b_X_i_X_z"),
        (fc.shared_embedding_columns([IDS], 2)[0], "i_shared_embedding"),
    ],
)
def test_names(column, name):
    assert column.name == name
    assert column == column._replace() and hash(column) == hash(column._replace())


def test_counts_of_categories():
    assert layer(lambda: {"i": ids()}, fc.indicator_column(IDS)) == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 2]]


def test_ids_out_of_range_are_errors_or_the_default():
    for bad, message in ((5, "exceeds number of buckets"), (-2, "Negative bucket index")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            layer(lambda bad=bad: {"i": tf.constant([[bad]])}, fc.indicator_column(IDS))
    column = fc.indicator_column(fc.categorical_column_with_identity("i", 4, default_value=1))
    assert layer(lambda: {"i": tf.constant([[5], [-1], [-7]])}, column) == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    "combiner, expected",
    [
        ("mean", [[0.9343, 0.005], [0, 0], [-0.647, 0.6016]]),
        ("sum", [[1.8686, 0.01], [0, 0], [-1.941, 1.8047]]),
        ("sqrtn", [[1.3213, 0.0071], [0, 0], [-1.1206, 1.0419]]),
    ],
)
def test_embeddings_of_a_row_are_combined(combiner, expected):
    np.testing.assert_allclose(
        layer(lambda: {"i": ids()}, fc.embedding_column(IDS, 2, combiner=combiner)), expected, atol=2e-4
    )


def test_weights_of_ids():
    weighted = fc.weighted_categorical_column(IDS, "w")
    weights = [[0.5, 2.0], [], [1.0, -1.0, 3.0]]
    features = lambda: {"i": ids(), "w": sparse(weights, tf.float32)}  # noqa: E731
    assert layer(features, fc.indicator_column(weighted)) == [[0.5, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]]
    with pytest.raises(ValueError, match="Bad dtype"):
        layer(lambda: {"i": ids(), "w": sparse([[1], [], [2]])}, fc.indicator_column(weighted))


def test_hashes():
    words = lambda: {"h": sparse([["a", "b"], ["c"], [""]], tf.string)}  # noqa: E731
    column = fc.categorical_column_with_hash_bucket("h", 6)
    assert layer(words, fc.indicator_column(column)) == [[0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    numbers = fc.categorical_column_with_hash_bucket("h", 6, tf.int64)
    assert layer(lambda: {"h": tf.constant([[3], [-1], [99]])}, fc.indicator_column(numbers)) == [
        [0, 0, 0, 1, 0, 0],
        [0] * 6,
        [1] + [0] * 5,
    ]


def test_vocabularies(tmp_path):
    path = tmp_path / "words"
    path.write_text("a\nb\n")
    for column in (
        fc.categorical_column_with_vocabulary_list("h", ["a", "b"], num_oov_buckets=2),
        fc.categorical_column_with_vocabulary_file("h", str(path), num_oov_buckets=2),
    ):
        assert column.num_buckets == 4
        features = lambda: {"h": tf.constant([["a", "zz"], ["b", ""]])}  # noqa: E731
        assert layer(features, fc.indicator_column(column)) == [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert fc.categorical_column_with_vocabulary_file("h", str(path)).vocabulary_size == 2


def test_buckets_of_several_numbers():
    column = fc.bucketized_column(fc.numeric_column("x", 2), [0.0, 2.0])
    features = lambda: {"x": tf.constant([[0.0, 1.0], [2.0, 5.0], [-1.0, np.nan]])}  # noqa: E731
    assert layer(features, column) == [[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 1]]


def test_crosses():
    features = lambda: {"a": tf.constant([["x"], ["y"], ["x"]]), "b": tf.constant([["p"], ["p"], ["q"]])}  # noqa: E731
    hits = np.argmax(layer(features, fc.indicator_column(fc.crossed_column(["a", "b"], 7))), 1)
    assert hits.tolist() == [1, 1, 3]
    nested = fc.crossed_column(["a", IDS, fc.bucketized_column(fc.numeric_column("x"), [0.5, 2.0])], 11, hash_key=5)

    def features():
        return {
            "a": sparse([["x", "y"], ["z"], []], tf.string),
            "i": ids(),
            "x": tf.constant([[0.0], [1.0], [9.0]]),
        }

    assert layer(features, fc.indicator_column(nested)) == [[1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0], [0] * 11, [0] * 11]


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: fc.numeric_column(3), ValueError),
        (lambda: fc.numeric_column("x", shape=2.5), TypeError),
        (lambda: fc.numeric_column("x", dtype=tf.string), ValueError),
        (lambda: fc.numeric_column("x", dtype=tf.int32, default_value=1.5), TypeError),
        (lambda: fc.bucketized_column(IDS, [1.0]), ValueError),
        (lambda: fc.bucketized_column(fc.numeric_column("x"), [2.0, 1.0]), ValueError),
        (lambda: fc.categorical_column_with_identity("i", 4, default_value=4), ValueError),
        (lambda: fc.categorical_column_with_vocabulary_list("v", ["a", "a"]), ValueError),
        (lambda: fc.categorical_column_with_vocabulary_list("v", [1.5]), ValueError),
        (lambda: fc.categorical_column_with_vocabulary_file("v", "/nowhere"), ValueError),
        (lambda: fc.weighted_categorical_column(IDS, "w", tf.string), ValueError),
        (lambda: fc.crossed_column(["a"], 5), ValueError),
        (lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("b", 3)], 5), ValueError),
        (lambda: fc.embedding_column(IDS, 0), ValueError),
        (lambda: fc.embedding_column(IDS, 2, ckpt_to_load_from="x"), ValueError),
        (lambda: fc.shared_embedding_columns([IDS, fc.categorical_column_with_identity("j", 5)], 2), ValueError),
    ],
)
def test_mistakes_are_told_when_a_column_is_made(make, error):
    with pytest.raises(error):
        make()


def test_default_values_fill_the_shape():
    assert fc.numeric_column("x", 2, default_value=3).default_value == (3, 3)
    assert fc.numeric_column("x", [2, 2], default_value=[[1, 2], [3, 4.5]]).default_value == ((1, 2), (3, 4.5))


def test_parse_specs():
    x, kind = fc.numeric_column("x"), fc.categorical_column_with_vocabulary_list("kind", ["a"])
    spec = fc.make_parse_example_spec(
        [x, fc.indicator_column(fc.crossed_column(["kind", "other"], 3)), fc.embedding_column(kind, 2)]
    )
    assert spec == {
        "x": tf.io.FixedLenFeature((1,), tf.float32, None),
        "kind": tf.io.VarLenFeature(tf.string),
        "other": tf.io.VarLenFeature(tf.string),
    }
    with pytest.raises(ValueError, match="different parse_spec"):
        fc.make_parse_example_spec([x, fc.numeric_column("x", 2)])
