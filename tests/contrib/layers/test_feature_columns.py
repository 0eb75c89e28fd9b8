"""The feature columns of tf.contrib.layers. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf

layers = tf.contrib.layers
WORDS = layers.sparse_column_with_hash_bucket("h", 6)


def sparse(rows, dtype=tf.string):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(
        np.array(indices, "int64").reshape(-1, 2), tf.constant(sum(rows, []), dtype), [len(rows), max(map(len, rows))]
    )


def features():
    return {
        "h": sparse([["a", "b"], ["c"], [""]]),
        "k": sparse([["p"], ["q"], ["r"]]),
        "x": tf.constant([[1.0], [2.0], [3.0]]),
        "w": sparse([[1.0, 2.0], [3.0], [4.0]], tf.float32),
    }


def run(make):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        outputs = make()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(outputs)


def layer(*columns):
    return run(lambda: layers.input_from_feature_columns(features(), columns)).round(4).tolist()


def test_columns_come_in_the_order_of_their_keys():
    buckets = layers.bucketized_column(layers.real_valued_column("x"), [1.5, 2.5])
    assert layer(layers.one_hot_column(WORDS), buckets) == [
        [1, 0, 0, 0, 0, 0, 1, 1, 0],
        [0, 1, 0, 0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 0, 0, 1],
    ]


def test_embeddings():
    expected = [[-0.0742, -0.3613], [0.0983, 0.0922], [0.0466, 0.5295]]
    words = lambda: {"h": sparse([["a", "b"], ["c"], [""]])}  # noqa: E731
    values = run(lambda: layers.input_from_feature_columns(words(), [layers.embedding_column(WORDS, 2)]))
    np.testing.assert_allclose(values, expected, atol=2e-4)


def test_scattered_embeddings():
    column = layers.scattered_embedding_column("h", 20, 3, hash_key=7)
    values = run(lambda: layers.input_from_feature_columns({"h": sparse([["a", "b"], ["c"], []])}, [column]))
    expected = [[0.00662, -0.11418, -0.11418], [-0.10958, -0.06266, -0.11878], [-0.10958, 0.01353, 0.08114]]
    np.testing.assert_allclose(values, expected, atol=2e-5)


@pytest.mark.parametrize(
    "hash_key, expected",
    [(None, [[0, 0, 0, 0, 1, 0, 1, 0], [0, 0, 0, 1] + [0] * 4]), (3, [[0, 0, 0, 0, 0, 2, 0, 0], [0] * 6 + [1, 0]])],
)
def test_crosses(hash_key, expected):
    crossed = layers.crossed_column([WORDS, layers.sparse_column_with_hash_bucket("k", 3)], 8, hash_key=hash_key)
    assert crossed.name == "h_X_k"
    assert layer(layers.one_hot_column(crossed))[:2] == expected


def test_weights():
    column = layers.one_hot_column(layers.weighted_sparse_column(WORDS, "w"))
    assert layer(column) == [[0, 0, 0, 1, 2, 0], [0, 0, 0, 0, 3, 0], [0, 0, 0, 0, 0, 4]]


def test_a_linear_model():
    def step():
        columns = [WORDS, layers.real_valued_column("x")]
        sums, variables, bias = layers.weighted_sum_from_feature_columns(features(), columns, 2)
        assert [v.name for v in variables[WORDS]] == ["weighted_sum_from_feature_columns/h/weights:0"]
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(sums - 1.0)))
        with tf.control_dependencies([train]):
            return [bias.read_value(), variables[WORDS][0].read_value()]

    bias, weights = run(step)
    np.testing.assert_allclose(bias, [0.6, 0.6], rtol=1e-6)
    np.testing.assert_allclose(weights[:, 0], [0, 0, 0, 0.2, 0.4, 0.2], rtol=1e-6)


def test_one_variable_for_all_columns():
    with tf.Graph().as_default():
        columns = [WORDS, layers.sparse_column_with_hash_bucket("k", 3)]
        _, weights, _ = layers.joint_weighted_sum_from_feature_columns(features(), columns, 2)
        assert [weight.shape.as_list() for weight in weights] == [[9, 2]]


def test_parsed_examples():
    feature = {
        "h": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a"])),
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[2.0])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    columns = [layers.one_hot_column(WORDS), layers.real_valued_column("x")]

    def parsed():
        tensors = layers.parse_feature_columns_from_examples(tf.constant([example]), columns)
        return layers.input_from_feature_columns(tensors, columns)

    assert run(parsed).tolist() == [[0, 0, 0, 1, 0, 0, 2]]


def test_the_newer_functions_take_them_too():
    columns = [layers.real_valued_column("x"), layers.one_hot_column(WORDS)]
    assert run(lambda: tf.feature_column.input_layer(features(), columns))[:, 6].tolist() == [1, 2, 3]
    assert run(lambda: tf.feature_column.linear_model(features(), [WORDS])).tolist() == [[0], [0], [0]]
    assert sorted(tf.feature_column.make_parse_example_spec(columns)) == ["h", "x"]


def test_sequences():
    columns = [layers.embedding_column(WORDS, 3), layers.real_valued_column("y", 4)]
    with tf.Graph().as_default():
        output = layers.sequence_input_from_feature_columns(
            {"h": sparse([["a", "b"], ["c"]]), "y": tf.zeros([2, 2, 4])}, columns
        )
        assert output.shape.as_list() == [2, 2, 7]


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: layers.real_valued_column("x", 1.5), TypeError),
        (lambda: layers.real_valued_column("x", 2, default_value=[1, 2, 3]), ValueError),
        (lambda: layers.bucketized_column(WORDS, [1.0]), TypeError),
        (lambda: layers.sparse_column_with_hash_bucket("x", 0), ValueError),
        (lambda: layers.sparse_column_with_vocabulary_file("x", "file"), ValueError),
        (lambda: layers.crossed_column([WORDS, layers.real_valued_column("x")], 5), TypeError),
        (lambda: layers.shared_embedding_columns([], 3), ValueError),
        (lambda: layers.check_feature_columns([WORDS, WORDS]), ValueError),
        (lambda: layer(WORDS), ValueError),
    ],
)
def test_mistakes(make, error):
    with pytest.raises(error):
        make()


REAL = layers.real_valued_column("x")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: layers.real_valued_column("x", dimension=1.5),
            TypeError,
            "'x': dimension must be an integer, not 1.5",
        ),
        (
            lambda: layers.real_valued_column("x", dimension=0),
            ValueError,
            "'x': dimension must be greater than 0, not 0",
        ),
        (
            lambda: layers.real_valued_column("x", dtype=tf.string),
            ValueError,
            "'x': dtype must be convertible to float",
        ),
        (lambda: layers.real_valued_column("x", 2, default_value=[1.0]), ValueError, "2 numbers, not"),
        (lambda: layers.real_valued_column("x", default_value="a"), TypeError, "compatible with"),
        (lambda: layers.bucketized_column(REAL, []), ValueError, "'x': boundaries must be a list or tuple"),
        (lambda: layers.bucketized_column(REAL, [2.0, 1.0]), ValueError, "sorted list, not"),
        (lambda: layers.bucketized_column(WORDS, [1.0]), TypeError, "source_column must be one"),
        (
            lambda: layers.sparse_column_with_hash_bucket("h", 0),
            ValueError,
            "'h': bucket_size must be at least 1, not 0",
        ),
        (lambda: layers.sparse_column_with_hash_bucket("h", 5, hash_keys=[3]), ValueError, "lists of two ints"),
        (lambda: layers.sparse_column_with_vocabulary_file("h", "words"), ValueError, "vocab_size must be given"),
        (lambda: layers.crossed_column([WORDS, REAL], 9), TypeError, "is a RealValuedColumn"),
        (lambda: layers.crossed_column([WORDS, WORDS], 1), ValueError, "'h_X_h': hash_bucket_size must be at least 2"),
        (
            lambda: layers.crossed_column([WORDS, WORDS], 9, ckpt_to_load_from="c"),
            ValueError,
            "both be given, or neither",
        ),
        (lambda: layers.embedding_column(WORDS, 2, initializer=3), ValueError, "'h': initializer must be a function"),
        (lambda: layers.scattered_embedding_column("h", 0, 2, 1), ValueError, "'h': dimension and size"),
        (lambda: layers.shared_embedding_columns([], 2), ValueError, "sparse_id_columns is empty"),
        (lambda: layers.check_feature_columns([REAL, REAL]), ValueError, "Duplicate feature column key: x"),
        (lambda: layers.infer_real_valued_columns({"s": tf.constant(["a"])}), ValueError, "FeatureColumn for 's'"),
    ],
)
def test_errors_name_the_column_and_what_it_was_given(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        (layers.embedding_column(WORDS, 2), ValueError, "the column that it embeds"),
        (REAL, NotImplementedError, "numbers, which can be bucketized"),
        (layers.weighted_sparse_column(WORDS, "w"), AssertionError, "weights of its own"),
        (layers.sparse_column_with_hash_bucket("h", 6, combiner="mean"), AssertionError, "a combiner other than 'sum'"),
    ],
)
def test_joint_sums_are_of_plain_categories(column, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        layers.joint_weighted_sum_from_feature_columns(features(), [column], 1)
