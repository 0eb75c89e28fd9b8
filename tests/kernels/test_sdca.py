"""Stochastic dual coordinate ascent, with the numbers that TensorFlow 1.15.5 gives."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def step(
    loss,
    labels,
    weights,
    dense,
    dense_weights,
    l1=0.0,
    l2=1.0,
    state=None,
    partitions=1,
    op=raw.SdcaOptimizer,
    **sparse,
):
    """The new states, and what is added to the weights of all features."""
    given = {
        "sparse_example_indices": [],
        "sparse_feature_indices": [],
        "sparse_feature_values": [],
        "sparse_indices": [],
        "sparse_weights": [],
        **sparse,
    }
    with tf.Graph().as_default(), tf.Session() as session:
        states, sparse_deltas, dense_deltas = session.run(
            op(
                **given,
                dense_features=[np.float32(dense)] if dense is not None else [],
                dense_weights=[np.float32(dense_weights)] if dense is not None else [],
                example_weights=np.float32(weights),
                example_labels=np.float32(labels),
                example_state_data=np.zeros([len(labels), 4], np.float32) if state is None else np.float32(state),
                loss_type=loss,
                l1=l1,
                l2=l2,
                num_loss_partitions=partitions,
                num_inner_iterations=1,
            )
        )  # fmt: skip
    return states, [*sparse_deltas, *dense_deltas]


# loss, label, partitions and l1, the dual variable before: state and delta of one example of weight 3.
ONE = [
    ("squared_loss", 0.7, 3, 1.0, 0.0, [-0.02173914, 0.01500001, 0, 3], -0.01304348),
    ("squared_loss", 0.7, 1, 1.0, 0.25, [0.09090908, 0.01500001, -0.431249976, 3], -0.09545455),
    ("logistic_loss", 1.0, 1, 0.0, 0.0, [0.220237195, 0.93978506, 0, 3], 0.13214232),
    ("logistic_loss", 1.0, 3, 1.0, 0.0, [0.186648652, 1.11330199, 0, 3], 0.11198919),
    ("logistic_loss", 1.0, 1, 1.0, 0.25, [0.2978729, 1.11330199, -1.6870054, 3], 0.02872375),
    ("hinge_loss", 1.0, 3, 1.0, 0.0, [0.05555555, 0.6, 0, 3], 0.03333333),
    ("hinge_loss", 1.0, 1, 1.0, 0.25, [0.416666657, 0.6, -0.75, 3], 0.1),
    ("smooth_hinge_loss", 1.0, 3, 1.0, 0.0, [0.043478258, 0.05999999, 0, 3], 0.02608695),
    ("smooth_hinge_loss", 1.0, 1, 1.0, 0.25, [0.227272719, 0.05999999, -0.65625, 3], -0.01363637),
    ("poisson_loss", 2.0, 3, 1.0, 0.0, [-0.02608223, 1.8766228, -1.84111691, 3], -0.01564934),
    ("poisson_loss", 2.0, 1, 1.0, 0.25, [0.112646371, 1.8766228, -2.3120172, 3], -0.08241218),
]


@pytest.mark.parametrize("loss, label, partitions, l1, dual, state, delta", ONE)
def test_one_example(loss, label, partitions, l1, dual, state, delta):
    before = [[dual, 9, 9, 9]]
    states, (added,) = step(loss, [label], [3.0], [[2.0]], [0.5], l1, 10.0, before, partitions)
    np.testing.assert_allclose(states[0], state, atol=2e-6)
    np.testing.assert_allclose(added, [delta], atol=2e-6)


def test_examples_one_after_the_other():
    examples = [[2.0, 3.0], [1.0, -2.0], [3.0, 3.0]]
    states, (added,) = step("squared_loss", [5.0, 0.0, 0.7], [0.0, 1.0, 1.0], examples, [0.5, 1.0], 1.0, 10.0)
    np.testing.assert_allclose(states[:, 0], [1.5, 0.93333334, -1.04285705], rtol=1e-6)
    np.testing.assert_allclose(added, [-0.21952379, -0.49952379], rtol=1e-5)


@pytest.mark.parametrize("op", [raw.SdcaOptimizer, raw.SdcaOptimizerV2])
@pytest.mark.parametrize(
    "known, features", [([0, 1], [0, 1, 0]), ([5, 9], [5, 9, 5]), ([9, 5], [9, 5, 9]), ([], [0, 1, 0])]
)
def test_weights_of_sparse_features_are_found_by_index(op, known, features):
    states, (added,) = step(
        "squared_loss", [1.0, 1.0], [1.0, 1.0], None, None, op=op,
        sparse_example_indices=[np.int64([0, 0, 1])], sparse_feature_indices=[np.int64(features)],
        sparse_indices=[np.int64(known)], sparse_weights=[np.zeros(2, np.float32)],
    )  # fmt: skip
    np.testing.assert_allclose(states[:, 0], [1 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(added, [2 / 3, 1 / 3], rtol=1e-6)


@pytest.mark.parametrize("loss, label", [("logistic_loss", 5.0), ("hinge_loss", -1.0), ("poisson_loss", -1.0)])
def test_labels_that_a_loss_has_no_meaning_for(loss, label):
    with pytest.raises(tf.errors.InvalidArgumentError, match="label"):
        step(loss, [label], [1.0], [[1.0]], [0.0])


def test_inputs_that_do_not_fit():
    sparse = {
        "sparse_example_indices": [np.int64([0])],
        "sparse_feature_indices": [np.int64([7])],
        "sparse_indices": [np.int64([0, 1])],
        "sparse_weights": [np.zeros(2, np.float32)],
    }
    with pytest.raises(tf.errors.InvalidArgumentError, match="no weight for the sparse feature"):
        step("squared_loss", [1.0], [1.0], None, None, **sparse)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1, 4\]"):
        step("squared_loss", [1.0], [1.0], [[1.0]], [0.0], state=np.zeros([3, 4]))


def test_weights_are_moved_towards_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = tf.Variable([1.0, -0.1]), tf.Variable([-3.0])
        session.run(tf.global_variables_initializer())
        session.run(tf.train.sdca_shrink_l1([v, w], l1=0.5, l2=2.0))
        assert [value.tolist() for value in session.run([v, w])] == [[0.75, 0.0], [-2.75]]


def test_fingerprints():
    with tf.Graph().as_default(), tf.Session() as session:
        keys = session.run(tf.train.sdca_fprint(tf.constant(["abc", "", "hello world"])))
    assert keys.tolist() == [
        [4143508125394299908, -6879828354153669051],
        [4463240938071824939, 4374473821787594281],
        [2911873174415414509, 6996746284954752264],
    ]
