"""Basic distributions: few values and many are one stream, ranges are kept, and shapes that can't be are refused."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels.random import distributions as random
from everflow.kernels.random.philox import Philox
from tests.kernels.feeding import fed
from tests.kernels.old_graphs import old_graph

PLACE = Philox.from_seeds(87654321, 5)


MAKERS = {
    "uniform": lambda shape, dtype: random.uniform(PLACE, shape, dtype),
    "normal": lambda shape, dtype: random.normal(PLACE, shape, dtype),
    "truncated": lambda shape, dtype: random.truncated_normal(PLACE, shape, dtype),
}


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16])
@pytest.mark.parametrize("name", MAKERS)
def test_a_few_values_are_the_first_of_many(name, dtype):
    many = MAKERS[name]([1000], dtype)
    for count in (0, 1, 3, 4, 5, 17):
        assert MAKERS[name]([count], dtype).tolist() == many[:count].tolist()
    assert MAKERS[name]([2, 5], dtype).reshape(-1).tolist() == many[:10].tolist()


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64])
@pytest.mark.parametrize("low", [0, -5, -(2**31)])
def test_integers_stay_in_their_range(dtype, low):
    values = random.uniform_int(PLACE, [3000], low, low + 7, dtype)
    assert sorted(set(values.tolist())) == list(range(low, low + 7))
    assert random.uniform_int(PLACE, [3], low, low + 7, dtype).tolist() == values[:3].tolist()


def test_moments():
    uniform, normal, truncated = (MAKERS[name]([200000], dtypes.float32).double() for name in MAKERS)
    assert 0 <= uniform.min() and uniform.max() < 1
    np.testing.assert_allclose([uniform.mean(), uniform.var()], [0.5, 1 / 12], atol=3e-3)
    np.testing.assert_allclose([normal.mean(), normal.var()], [0, 1], atol=1e-2)
    assert truncated.abs().max() < 2
    np.testing.assert_allclose(truncated.var(), 0.774, atol=1e-2)


@pytest.mark.parametrize("count", [0, 1, 2, 9])
@pytest.mark.parametrize("dtype", ["int32", "string"])
def test_shuffles_are_permutations_of_rows(sess, count, dtype):
    rows = np.arange(2 * count).reshape(count, 2)
    shuffled = sess.run(tf.random_shuffle(tf.as_string(fed(rows)) if dtype == "string" else fed(rows), seed=3))
    wanted = {tuple(row) for row in (rows.astype(str).astype("S") if dtype == "string" else rows).tolist()}
    assert shuffled.shape == (count, 2) and {tuple(row) for row in shuffled.tolist()} == wanted


def test_crops_lie_inside():
    image = np.arange(60).reshape(5, 6, 2)
    with old_graph().as_default(), tf.Session() as sess:
        crop = tf.raw_ops.RandomCrop(image=fed(image), size=fed(np.int64([2, 3])), seed=1)
        for _ in range(5):
            found = sess.run(crop)
            top, left = divmod(int(found[0, 0, 0]) // 2, 6)
            np.testing.assert_array_equal(found, image[top : top + 2, left : left + 3])


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.random_uniform(fed([-1])),
        lambda: tf.random_normal(fed(3)),
        lambda: tf.random_uniform([2], fed(5), fed(5), tf.int32),
        lambda: tf.random_uniform([2], fed([0]), fed(5), tf.int32),
        lambda: tf.random.stateless_uniform([2], fed([1, 2, 3])),
        lambda: tf.raw_ops.RandomCrop(image=fed(np.zeros([2, 2, 1])), size=fed(np.int64([3, 1]))),
    ],
)
def test_what_can_not_be(build):
    with old_graph().as_default(), tf.Session() as sess:
        drawn = build()
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(drawn)


def test_nothing_needs_no_range(sess):
    assert sess.run(tf.random_uniform([0], fed(5), fed(5), tf.int32)).shape == (0,)
