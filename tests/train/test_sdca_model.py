"""Linear models trained by dual coordinate ascent, with what TensorFlow 1.15.5 comes to."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.linear_optimizer import SdcaModel, SparseFeatureColumn


def model_of(loss, dense=True, parts=None, **options):
    """A model of two examples with two sparse features and, if wanted, a dense one; the examples and variables."""
    column = [tf.constant([0, 1], tf.int64), tf.constant([0, 1], tf.int64)]
    partitioner = parts and tf.fixed_size_partitioner(parts)
    size, zeros = 4 if parts else 2, tf.zeros_initializer()
    examples = {
        "sparse_features": [SparseFeatureColumn(*column, [1.0, 1.0]), SparseFeatureColumn(*column, [1.0, 2.0])],
        "dense_features": [tf.ones([2, 1])] if dense else [],
        "example_labels": tf.constant([1.0, 0.0]),
        "example_weights": tf.constant([1.0, 1.0]),
        "example_ids": tf.constant(["a", "b"]),
    }
    weights = [
        tf.get_variable(f"w{i}", [size], initializer=zeros, partitioner=partitioner, use_resource=False)
        for i in range(2)
    ]
    variables = {
        "sparse_features_weights": weights,
        "dense_features_weights": [tf.Variable([0.0])] if dense else [],
    }
    options = {"symmetric_l1_regularization": 0.5, "symmetric_l2_regularization": 1.0, "loss_type": loss, **options}
    return SdcaModel(examples, variables, options), examples, variables


@pytest.mark.parametrize(
    "loss, options, predictions, regularized, unregularized",
    [
        ("logistic_loss", {}, [0.5, 0.37631], 0.661734, 0.582625),
        ("squared_loss", {"parts": 2, "adaptive": False}, [0.3571, 0.0714], 0.205358, 0.1046),
        ("poisson_loss", {"dense": False, "num_table_shards": 2}, [1.0, 0.44976], 0.864664, 0.72488),
        ("hinge_loss", {"dense": False, "num_loss_partitions": 2}, [1.0, -1.0], 0.5625, 0.0),
        ("smooth_hinge_loss", {"dense": False}, [1 / 3, -0.6], 0.728056, 0.533333),
    ],
)
def test_what_training_comes_to(loss, options, predictions, regularized, unregularized):
    with tf.Graph().as_default(), tf.Session() as session:
        model, examples, _ = model_of(loss, **options)
        global_step = tf.train.create_global_step()
        train_op = model.minimize(global_step)
        update = model.update_weights(train_op)
        fetches = [
            model.predictions(examples),
            model.regularized_loss(examples),
            model.unregularized_loss(examples),
            model.approximate_duality_gap(),
        ]
        session.run(tf.global_variables_initializer())
        for _ in range(100):
            session.run(train_op)
        session.run(update)
        found, with_size, without, gap = session.run(fetches)
        np.testing.assert_allclose(found, predictions, atol=1e-4)
        np.testing.assert_allclose([with_size, without], [regularized, unregularized], atol=2e-5)
        assert abs(gap) < 1e-5
        assert session.run(global_step) == 101


def test_the_nodes_that_train():
    with tf.Graph().as_default() as graph:
        model, _, _ = model_of("logistic_loss")
        model.update_weights(model.minimize())
        names = [op.name for op in graph.get_operations()]
    assert "w0_unshrinked/SDCAOptimizer" in names
    assert "ShardedMutableHashTable/ShardedMutableHashTable-1-of-1" in names
    start = names.index("sdca/minimize/SdcaFprint")
    assert names[start + 2 : start + 5] == [f"sdca/minimize/{name}" for name in ("Cast", "Unique", "Cast_1")]
    assert names[-7:] == [
        "Assign", "Assign_1", "Assign_2", "SdcaShrinkL1", "SdcaShrinkL1_1", "SdcaShrinkL1_2", "group_deps",
    ]  # fmt: skip


def test_what_is_not_a_model():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="loss_type"):
        model_of("absolute_loss")
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="0 or more"):
            model_of("squared_loss", symmetric_l1_regularization=-1.0)
        with pytest.raises(ValueError, match="must all be given"):
            SdcaModel(None, {}, {})


def test_states_are_kept_in_checkpoints(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        model, _, _ = model_of("logistic_loss", num_table_shards=2)
        train_op, gap = model.minimize(), model.approximate_duality_gap()
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(train_op)
        saver.save(session, str(tmp_path / "model"))
        before = session.run(gap)
        with tf.Session() as fresh:
            saver.restore(fresh, str(tmp_path / "model"))
            assert fresh.run(gap) == before
