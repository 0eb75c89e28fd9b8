"""Random numbers that depend on shape and seed alone."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor, times=1):
    with tf.Session() as sess:
        results = [sess.run(tensor) for _ in range(times)]
    return results if times > 1 else results[0]


# What TensorFlow 1.15.5 gives with graph seed 7 and op seed 5: op, values of one or two runs.
RECORDED = [
    (
        lambda: tf.random.stateless_uniform([4], [3, -4]),
        [[0.19548892974853516, 0.72270667552948, 0.8852598667144775, 0.6083104610443115]] * 2,
    ),
    (
        lambda: tf.random.stateless_normal([3], [3, -4]),
        [[-1.780290961265564, -0.30832916498184204, -0.3106456696987152]],
    ),
    (lambda: tf.random.stateless_categorical([[0.0, 1.0, 2.0]], 8, [3, 4]), [[[2, 2, 1, 2, 2, 2, 1, 0]]]),
]


@pytest.mark.parametrize(("build", "values"), RECORDED)
def test_same_numbers_as_tensorflow(build, values):
    tf.set_random_seed(7)
    found = run(build(), times=2)
    for have, want in zip(found, values):
        if have.dtype.kind == "i":
            np.testing.assert_array_equal(have, want)
        else:
            # The last bit of a logarithm or sine may differ.
            np.testing.assert_allclose(have, np.array(want, have.dtype), rtol=3e-6, atol=1e-6)


MAKERS = {
    "uniform": lambda shape, seed: tf.random.stateless_uniform(shape, seed),
    "integers": lambda shape, seed: tf.random.stateless_uniform(shape, seed, -5, 5, tf.int32),
    "normal": lambda shape, seed: tf.random.stateless_normal(shape, seed, dtype=tf.float64),
    "truncated": lambda shape, seed: tf.random.stateless_truncated_normal(shape, seed),
}


@pytest.mark.parametrize("name", MAKERS)
def test_seeds_decide_alone(name):
    make = MAKERS[name]
    same, again, other = (make([20], seed) for seed in ([1, 2], [1, 2], [1, 3]))
    tf.set_random_seed(5)
    with tf.Session() as sess:
        first, second, third = sess.run([same, again, other])
        np.testing.assert_array_equal(first, sess.run(same))
    np.testing.assert_array_equal(first, second)
    assert (first != third).any()


@pytest.mark.parametrize("name", MAKERS)
def test_shapes_and_seeds(name):
    make = MAKERS[name]
    assert make([2, 3], [1, 2]).shape.as_list() == [2, 3]
    assert make(tf.placeholder(tf.int32, [2]), [1, 2]).shape.as_list() == [None, None]
    for shape, seed in (([[2]], [1, 2]), ([2], [1, 2, 3]), ([2], 1)):
        with pytest.raises(ValueError):
            make(shape, seed)
    assert run(make([0], [1, 2])).shape == (0,)


def test_bounds_means_and_classes():
    values = run(tf.random.stateless_uniform([1000], [1, 2], 3.0, 4.0))
    assert (values >= 3).all() and (values < 4).all()
    values = run(tf.random.stateless_normal([4000], [1, 2], mean=7.0, stddev=0.5))
    assert abs(values.mean() - 7) < 0.05 and abs(values.std() - 0.5) < 0.05
    classes = run(tf.random.stateless_categorical([[0.0, -np.inf, 0.0]], 50, [1, 2], dtype=tf.int32))
    assert classes.dtype == np.int32 and set(classes.ravel()) == {0, 2}
    with pytest.raises(ValueError):
        tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)


def test_no_gradient_to_bounds_of_integers():
    x = tf.constant(1.0)
    y = tf.random.stateless_normal([2], [1, 2], mean=x)
    assert run(tf.gradients(y, x)[0]) == 2.0
