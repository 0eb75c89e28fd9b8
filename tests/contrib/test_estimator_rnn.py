"""Recurrent estimators; the numbers are TensorFlow 1.15's."""

import pytest

import everflow as tf

FC = tf.feature_column
TOKENS = FC.embedding_column(FC.sequence_categorical_column_with_hash_bucket("tokens", 10), 4)
TEXTS = [["a", "b", "c"], ["a"], ["b", "c", "d", "e"], ["e"]]


def sparse(rows, dtype):
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(places, tf.constant([v for row in rows for v in row], dtype), [4, 4])


def input_fn():
    features = {
        "tokens": sparse(TEXTS, tf.string),
        "num": sparse([[float(len(t)) + j for j, t in enumerate(row)] for row in TEXTS], tf.float32),
        "ctx": tf.constant([[1.0], [2.0], [3.0], [4.0]]),
    }
    return features, tf.constant([[0], [1], [1], [0]])


@pytest.mark.parametrize(
    ("columns", "options", "loss"),
    [
        ([TOKENS, FC.sequence_numeric_column("num")], {"num_units": [5]}, 0.5886),
        (
            [TOKENS],
            {
                "context_feature_columns": [FC.numeric_column("ctx")],
                "num_units": [4, 3],
                "cell_type": "lstm",
                "n_classes": 3,
            },
            1.0457,
        ),
    ],
)
def test_classifier_learns_sequences(columns, options, loss, tmp_path):
    config = tf.estimator.RunConfig(tf_random_seed=3, model_dir=str(tmp_path))
    classifier = tf.contrib.estimator.RNNClassifier(columns, config=config, **options)
    classifier.train(input_fn, steps=3)
    results = classifier.evaluate(input_fn, steps=1)
    assert results["average_loss"] == pytest.approx(loss, abs=2e-4) and results["accuracy"] == 0.75


def test_a_cell_of_ones_own(tmp_path):
    estimator = tf.contrib.estimator.RNNEstimator(
        tf.contrib.estimator.regression_head(),
        [TOKENS],
        rnn_cell_fn=lambda mode: tf.nn.rnn_cell.LSTMCell(3),
        optimizer=tf.train.AdamOptimizer(0.1),
        config=tf.estimator.RunConfig(tf_random_seed=3, model_dir=str(tmp_path)),
    )
    estimator.train(input_fn, steps=3)
    assert estimator.evaluate(input_fn, steps=1)["average_loss"] == pytest.approx(0.2386, abs=2e-4)
    assert "rnn/rnn/lstm_cell/kernel" in estimator.get_variable_names()


def test_a_cell_is_named_in_one_way():
    with pytest.raises(ValueError, match="must not be specified when using rnn_cell_fn"):
        tf.contrib.estimator.RNNClassifier([TOKENS], num_units=[3], rnn_cell_fn=lambda mode: None)


def test_batches_whose_size_nobody_knows(tmp_path):
    def batches():
        features, labels = input_fn()
        return (
            tf.data.Dataset.from_tensor_slices(({"tokens": features["tokens"], "num": features["num"]}, labels))
            .repeat()
            .batch(2)
        )

    config = tf.estimator.RunConfig(tf_random_seed=3, model_dir=str(tmp_path))
    classifier = tf.contrib.estimator.RNNClassifier(
        [TOKENS, FC.sequence_numeric_column("num")], num_units=[5], config=config
    )
    classifier.train(batches, steps=3)
    assert classifier.evaluate(batches, steps=2)["global_step"] == 3
