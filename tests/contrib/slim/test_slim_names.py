"""Names that slim takes along from other places."""

import sys
import types

import numpy as np
import pytest

import everflow as tf

slim = tf.contrib.slim

pytestmark = pytest.mark.usefixtures("own_graph")


def _values(crossed):
    with tf.Session() as sess:
        return sess.run(crossed).values.tolist()


def test_features_cross_as_strings_or_as_ids():
    letters = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "y", "z"], [2, 2])
    numbers = tf.constant([[1, 2], [3, 4]])
    assert _values(slim.sparse_feature_cross([letters, tf.constant([["p"], ["q"]])])) == [b"x_X_p", b"y_X_p", b"z_X_q"]
    assert _values(slim.sparse_feature_cross([letters, numbers], hashed_output=True, num_buckets=100)) == [
        43,
        42,
        29,
        26,
        75,
        72,
    ]
    assert _values(slim.sparse_feature_cross([letters, numbers], True, 100, hash_key=12345)) == [6, 10, 58, 46, 52, 84]
    assert _values(slim.sparse_feature_cross([numbers, numbers], True))[:2] == [
        2148546192418819502,
        2148546192418819503,
    ]
    with pytest.raises(TypeError):
        slim.sparse_feature_cross(letters)
    with pytest.raises(TypeError):
        slim.sparse_feature_cross([5])


def test_binary_svm_target():
    logits, labels = tf.constant([[1.5], [-0.5], [0.2]]), tf.constant([[1], [0], [1]])
    target = slim.binary_svm_target()
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(target.loss(logits, labels, {})), (0.5 + 0.8) / 3, rtol=1e-5)
        assert sess.run(target.logits_to_predictions(logits)).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="probabilities"):
        target.logits_to_predictions(logits, proba=True)


def test_bucketize():
    with tf.Session() as sess:
        assert sess.run(slim.bucketize(tf.constant([1, 5, 10]), [2, 6])).tolist() == [0, 1, 2]


def test_experimental_functions_say_so():
    marked = slim.experimental(lambda x: x + 1)
    assert marked(1) == 2
    assert "experimental" in marked.__doc__
    with pytest.raises(ValueError, match="not a function"):
        slim.experimental(3)


IDS = ([[0, 0], [0, 1], [1, 0], [3, 0], [3, 2]], [1, 3, 0, 2, 5], [4, 3])


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("max_norm", [None, 4.0])
def test_sums_beside_the_parts_are_those_of_embedding_lookup_sparse(strategy, combiner, max_norm):
    ids = tf.SparseTensor(*IDS)
    weights = tf.SparseTensor(IDS[0], [1.0, 3.0, 0.5, 2.0, 5.0], IDS[2])
    table = np.arange(14.0, dtype="float32").reshape(7, 2)
    parts = [tf.constant(table[:3]), tf.constant(table[3:5]), tf.constant(table[5:])]
    for params in (tf.constant(table), parts):
        for given in (None, weights):
            options = {"partition_strategy": strategy, "combiner": combiner, "max_norm": max_norm}
            ours = slim.embedding_lookup_sparse_with_distributed_aggregation(params, ids, given, **options)
            plain = tf.nn.embedding_lookup_sparse(params, ids, given, **options)
            assert ours.name.endswith("aggregation:0" if combiner == "sum" else "/div:0")
            with tf.Session() as sess:
                got, wanted = sess.run([ours, plain])
            rows = [0, 1, 3]  # A row without ids is 0 / 0 where it is divided.
            np.testing.assert_allclose(got[rows], wanted[rows], rtol=1e-6)


def test_sums_beside_the_parts_have_gradients_and_checks():
    lookup = slim.embedding_lookup_sparse_with_distributed_aggregation
    ids = tf.SparseTensor(*IDS)
    parts = tf.get_variable(
        "parts", [6, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer()
    )
    slopes = tf.gradients(lookup(parts, ids, None, combiner="sum"), list(parts))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sum(sess.run(slope).values.sum() for slope in slopes) == 10
    for error, params, keys, given, options in (
        (ValueError, parts, ids, None, {"combiner": "max"}),
        (ValueError, None, ids, None, {}),
        (ValueError, [], ids, None, {}),
        (ValueError, parts, ids, None, {"partition_strategy": "x"}),
        (TypeError, parts, tf.constant([1]), None, {}),
        (TypeError, parts, ids, tf.constant([1.0]), {}),
    ):
        with pytest.raises(error):
            lookup(params, keys, given, **options)


def test_metrics_of_two_classes():
    metrics = slim.get_default_binary_metrics_for_eval([0.3, 0.7])
    assert len(metrics) == 10
    predictions, labels, weights = (
        tf.constant([0.1, 0.8, 0.5, 0.9]),
        tf.constant([0.0, 1.0, 1.0, 0.0]),
        tf.constant([1.0, 2.0, 1.0, 1.0]),
    )
    updates = {name: metric(predictions, labels, weights)[1] for name, metric in metrics.items()}
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        got = sess.run(updates)
    assert got["labels/actual_target_mean"] == got["accuracy/baseline_target_mean"] == pytest.approx(0.6)
    assert got["accuracy/threshold_0.300000_mean"] == pytest.approx(0.8)
    assert got["precision/positive_threshold_0.700000_mean"].tolist() == pytest.approx([2 / 3])
    assert got["recall/positive_threshold_0.300000_mean"].tolist() == pytest.approx([1.0])


class _Doubled:
    def required_base_features(self):
        return {"z": tf.FixedLenFeature([2], tf.float32)}

    def build(self, columns):
        return columns["z"] * 2.0


def test_columns_of_data_frames():
    column = slim.DataFrameColumn("n", _Doubled())
    assert (column.name, column.key, list(column.config)) == ("n", "n", ["z"])
    assert column == slim.DataFrameColumn(*column) != slim.DataFrameColumn("m", column.series)
    features = {"z": tf.constant([[1.0, 2.0]])}
    with pytest.raises(TypeError, match="unhashable"):
        tf.contrib.layers.input_from_feature_columns(features, [column])

    class Hashed(slim.DataFrameColumn):
        def __hash__(self):
            return hash(self.column_name)

    hashed = Hashed(*column)
    hashed.insert_transformed_feature(features)
    layer = tf.contrib.layers.input_from_feature_columns({"z": tf.constant([[1.0, 2.0]])}, [hashed])
    with tf.Session() as sess:
        assert sess.run([features[hashed], layer])[1].tolist() == [[2.0, 4.0]]
    with pytest.raises(NotImplementedError):
        tf.contrib.layers.joint_weighted_sum_from_feature_columns({"z": tf.constant([[1.0, 2.0]])}, [hashed], 1)


def test_names_a_docstring_lists(monkeypatch):
    module = types.ModuleType("listed", "Words.\n\n@@shown\n@@absent\n  @@indented\n")
    module.shown = module.hidden = module.indented = 1
    monkeypatch.setitem(sys.modules, "listed", module)
    assert slim.make_all("listed") == ["shown"]
    assert slim.make_all("listed", [types.ModuleType("other", "@@hidden")]) == ["hidden"]
    with pytest.raises(KeyError):
        slim.make_all("no_such_module")
