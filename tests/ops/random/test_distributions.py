"""Random ops: TensorFlow's numbers from the same seeds, what streams do from run to run, shapes, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor, times=1):
    with tf.Session() as sess:
        results = [sess.run(tensor) for _ in range(times)]
    return results if times > 1 else results[0]


# What TensorFlow 1.15.5 gives with graph seed 7 and op seed 5: op, values of one or two runs.
RECORDED = [
    (
        lambda: tf.random_uniform([5], seed=5),
        [
            [0.8669310808181763, 0.0021675825119018555, 0.9194519519805908, 0.4260975122451782, 0.8180663585662842],
            [0.1441715955734253, 0.25092780590057373, 0.16438055038452148, 0.28020691871643066, 0.9063448905944824],
        ],
    ),
    (
        lambda: tf.random_uniform([3], dtype=tf.float64, seed=5),
        [
            [0.9354494959156356, 0.3556160953381984, 0.5445309338055004],
            [0.39796330219281506, 0.5694968150158146, 0.5469195367343935],
        ],
    ),
    (
        lambda: tf.random_uniform([5], dtype=tf.float16, seed=5),
        [[0.8994140625, 0.7568359375, 0.150390625, 0.5908203125, 0.599609375]],
    ),
    (lambda: tf.random_uniform([6], -5, 1000, tf.int32, seed=5), [[768, 466, 620, 101, 13, 933]]),
    (lambda: tf.random_uniform([3], 0, 1 << 40, tf.int64, seed=5), [[30961235865, 401293553818, 1033273652838]]),
    (
        lambda: tf.random_normal([5], seed=5),
        [
            [0.007278046105057001, 0.5343581438064575, 0.18353332579135895, -0.3664293885231018, 0.17439934611320496],
            [1.9680880308151245, -0.011473327875137329, 1.8661763668060303, -0.35850730538368225, -0.02129816636443138],
        ],
    ),
    (
        lambda: tf.random_normal([3], dtype=tf.float64, seed=5),
        [[0.28778786151244395, -0.225020862598186, 1.0718162326550136]],
    ),
    (
        lambda: tf.truncated_normal([6], seed=5),
        [
            [
                0.007278046105057001,
                0.5343581438064575,
                0.18353332579135895,
                -0.3664293885231018,
                -0.35079196095466614,
                0.01803036965429783,
            ],
            [
                -0.6654976606369019,
                -0.19847755134105682,
                1.1874845027923584,
                0.1905113309621811,
                -0.17315885424613953,
                -0.7497895359992981,
            ],
        ],
    ),
    (
        lambda: tf.truncated_normal([3], dtype=tf.float64, seed=5),
        [[0.28778786151244395, -0.225020862598186, 0.3713648927023284]],
    ),
    (lambda: tf.random_shuffle(np.arange(8), seed=5), [[1, 2, 6, 4, 0, 7, 3, 5], [6, 0, 3, 1, 4, 7, 5, 2]]),
    (
        lambda: tf.random_gamma([4], [0.5, 3.0], seed=5)[0],
        [[0.2787538766860962, 5.802304267883301]],
    ),
    (lambda: tf.random_poisson([0.5, 30.0], [4], seed=5), [[[0.0, 30.0], [1.0, 27.0], [2.0, 38.0], [0.0, 35.0]]]),
    (lambda: tf.multinomial([[0.0, 1.0, 2.0]], 8, seed=5), [[[2, 2, 2, 1, 2, 2, 2, 2]], [[2, 2, 2, 2, 2, 2, 2, 2]]]),
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


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 40), st.integers(1, 2**31 - 2))
def test_a_longer_output_begins_with_the_shorter(extra, seed):
    with tf.Graph().as_default():
        for make in (tf.random_uniform, tf.random_normal, tf.truncated_normal):
            short, long = run(make([7], seed=seed)), run(make([7 + extra], seed=seed))
            np.testing.assert_array_equal(short, long[:7])


@settings(max_examples=20, deadline=None)
@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(1, 10**6))
def test_integers_stay_in_their_range(low, span, seed):
    with tf.Graph().as_default():
        values = run(tf.random_uniform([50], low, low + span, tf.int32, seed=seed))
        assert values.min() >= low and values.max() < low + span


def test_streams_restart_in_a_new_session_and_differ_between_ops():
    tf.set_random_seed(1)
    a, b = tf.random_uniform([3]), tf.random_uniform([3])
    first, second = run(a, times=2)
    assert (first != second).any() and (first == run(a)).all() and (first != run(b)).any()


def test_without_seeds_sessions_differ():
    a = tf.random_uniform([3])
    assert (run(a) != run(a)).any()


def test_large_outputs_have_the_right_moments():
    normal = run(tf.random_normal([200000], 1.0, 2.0, seed=1))
    assert abs(normal.mean() - 1) < 0.02 and abs(normal.std() - 2) < 0.02
    truncated = run(tf.truncated_normal([200000], seed=1))
    assert abs(truncated).max() < 2 and abs(truncated.std() - 0.8796) < 0.01
    gamma = run(tf.random_gamma([20000], 4.0, 2.0, seed=1))
    assert abs(gamma.mean() - 2) < 0.05 and abs(gamma.var() - 1) < 0.1
    poisson = run(tf.random_poisson([3.0, 40.0], [20000], seed=1))
    np.testing.assert_allclose(poisson.mean(axis=0), [3, 40], rtol=0.02)
    np.testing.assert_allclose(poisson.var(axis=0), [3, 40], rtol=0.05)


def test_parameterized_truncated_normal_keeps_its_bounds():
    from everflow.ops.random.distributions import parameterized_truncated_normal

    low, high = np.float32([-2, 0.5, -9, 3]), np.float32([2, 5, -1, 3.1])
    values = run(
        parameterized_truncated_normal([4, 500], np.zeros(4, np.float32), np.ones(4, np.float32), low, high, seed=1)
    )
    assert (values >= low[:, None]).all() and (values <= high[:, None]).all()


def test_shapes_known_when_built():
    size = tf.placeholder(tf.int32, [])
    assert tf.random_uniform([2, size]).shape.as_list() == [2, None]
    assert tf.random_gamma([3], [[1.0, 2.0]]).shape.as_list() == [3, 1, 2]
    assert tf.multinomial(tf.zeros([4, 5]), 6).shape.as_list() == [4, 6]
    assert tf.random_shuffle(tf.zeros([4, 5])).shape.as_list() == [4, 5]
    assert tf.random.stateless_truncated_normal([3], [1, 2]).shape.as_list() == [3]


def test_graph_is_tensorflows():
    tf.random_uniform([2], seed=1)
    tf.truncated_normal([2], name="t")
    names = [(op.type, op.name) for op in tf.get_default_graph().get_operations()]
    assert names[3:7] == [
        ("RandomUniform", "random_uniform/RandomUniform"),
        ("Sub", "random_uniform/sub"),
        ("Mul", "random_uniform/mul"),
        ("Add", "random_uniform"),
    ]
    assert names[-1] == ("Add", "t")


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.random_uniform([1], dtype=tf.bool), ValueError),
        (lambda: tf.random_uniform([2], dtype=tf.int32), ValueError),
        (lambda: tf.random_uniform([1.5]), TypeError),
        (lambda: tf.random_normal([2], dtype=tf.int32), TypeError),
        (lambda: tf.multinomial([0.0, 1.0], 2), ValueError),
        (lambda: tf.random.stateless_uniform([2], [1]), ValueError),
        (lambda: tf.random.stateless_uniform([2], [1.0, 2.0]), TypeError),
    ],
)
def test_refused_when_built(build, error):
    with pytest.raises(error):
        build()


def test_refused_when_run():
    shape, low = tf.placeholder(tf.int32), tf.placeholder(tf.int32, [])
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.random_uniform(shape), {shape: [-1]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="minval < maxval"):
            sess.run(tf.random_uniform([2], low, 3, tf.int32), {low: 3})


def test_gamma_samples_are_differentiable():
    alpha, beta = tf.constant([2.0, 5.0]), tf.constant(2.0)
    sample = tf.random_gamma([4], alpha, beta, seed=138)
    with tf.Session() as sess:
        value, by_alpha, by_beta = sess.run([sample, *tf.gradients(sample, [alpha, beta])])
    np.testing.assert_allclose(by_beta, -value.sum() / 2, rtol=1e-5)
    assert by_alpha.shape == (2,) and (by_alpha > 0).all()
