"""Initializers: values, configs that make them again, partitions, and what they refuse."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


I = tf.initializers  # noqa: E741


@pytest.mark.parametrize(
    "made",
    [
        I.zeros(),
        I.ones(tf.int32),
        I.constant(3),
        I.random_uniform(-1, 1, seed=2),
        I.random_normal(1.0, 2.0, seed=3),
        I.truncated_normal(stddev=0.1, seed=4),
        I.uniform_unit_scaling(seed=5),
        I.variance_scaling(2.0, "fan_out", "uniform", seed=6),
        I.glorot_uniform(7),
        I.glorot_normal(8),
        I.orthogonal(2.0, 9),
        I.identity(2.0),
        I.he_normal(10),
        I.lecun_uniform(11),
    ],
)
def test_config_makes_it_again(made):
    again = type(made).from_config(made.get_config())
    np.testing.assert_array_equal(run(made([4, 4], tf.float32)), run(again([4, 4], tf.float32)))


@pytest.mark.parametrize(
    ("made", "shape", "limit"),
    [
        (I.glorot_uniform(), [4, 3], np.sqrt(6 / 7)),
        (I.lecun_uniform(), [4, 3], np.sqrt(3 / 4)),
        (I.he_uniform(), [2, 2, 4, 3], np.sqrt(6 / 16)),
        (I.variance_scaling(1.0, "fan_out", "uniform"), [2, 2, 4, 3], np.sqrt(3 / 12)),
        (I.uniform_unit_scaling(), [4, 3], np.sqrt(3 / 4)),
    ],
)
def test_limits_come_from_the_fans(made, shape, limit):
    made(shape)
    constants = {op.name: op.get_attr("value") for op in tf.get_default_graph().get_operations() if op.type == "Const"}
    assert tf.make_ndarray(constants["random_uniform/max"]) == pytest.approx(limit)


def test_orthogonal_columns():
    for shape in ([6, 4], [4, 6], [2, 3, 4]):
        value = run(I.orthogonal(seed=1)(shape)).reshape(-1, shape[-1])
        product = value.T @ value if value.shape[0] >= value.shape[1] else value @ value.T
        np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-5)


def test_constants_fill_the_shape():
    np.testing.assert_array_equal(run(I.constant([1, 2, 3])([2, 3])), [[1, 2, 3], [3, 3, 3]])
    np.testing.assert_array_equal(run(I.identity(2.0)([2, 3])), [[2, 0, 0], [0, 2, 0]])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: I.variance_scaling(scale=-1), ValueError),
        (lambda: I.variance_scaling(mode="x"), ValueError),
        (lambda: I.variance_scaling(distribution="x"), ValueError),
        (lambda: I.truncated_normal(dtype=tf.int32), ValueError),
        (lambda: I.constant({1}), TypeError),
        (lambda: I.constant([1, 2, 3, 4], verify_shape=True)([3]), TypeError),
        (lambda: I.orthogonal()([3]), ValueError),
        (lambda: I.identity()([3]), ValueError),
        (lambda: I.random_normal()([None, 2]), TypeError),
    ],
)
def test_refused(make, error):
    with pytest.raises(error):
        make()


def test_orthogonal_and_identity_matrices_of_doubles():
    with tf.Graph().as_default(), tf.Session() as sess:
        orthogonal, identity = tf.initializers.orthogonal(0.5, seed=1), tf.initializers.identity(2.0)
        q, eye = sess.run([orthogonal([3, 3], dtype=tf.float64), identity([2, 2], dtype=tf.float64)])
    np.testing.assert_allclose(q @ q.T, 0.25 * np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(eye, 2 * np.eye(2))


def test_a_configuration_keeps_the_type():
    ones = tf.initializers.ones(dtype=tf.int32)
    assert type(ones).from_config(ones.get_config())([2]).dtype == tf.int32
