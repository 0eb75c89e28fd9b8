"""Comparisons, choices and casts of masks, on tensors large enough for the ways of kernels/array/masks.py."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.array.masks import SMALLEST

SHAPE = (400, 50)
assert SHAPE[0] * SHAPE[1] > SMALLEST


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetch, feed=None):
    with tf.Session() as session:
        return session.run(fetch, feed)


def odd_values():
    """Two arrays with every pair of NaN, infinities, zeros of both signs and plain numbers."""
    random = np.random.RandomState(0)
    x, y = random.randn(2, *SHAPE).astype(np.float32)
    special = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
    x[:6, :6], y[:6, :6] = special[:, None], special
    return x, y


@pytest.mark.parametrize("name", ["greater", "greater_equal", "less", "less_equal", "equal", "not_equal"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.float16])
def test_comparisons(name, dtype):
    x, y = odd_values()
    if not np.issubdtype(dtype, np.floating):
        x, y = (np.nan_to_num(v, posinf=9, neginf=-9) * 3 for v in (x, y))
    x, y = x.astype(dtype), y.astype(dtype)
    fed_x, fed_y = (tf.placeholder(dtype, [None, SHAPE[1]]) for _ in range(2))
    compare, expected = getattr(tf, name), getattr(np, name)
    one = dtype(1)
    got = run(
        [compare(fed_x, fed_y), compare(fed_x, one), compare(one, fed_y), compare(fed_x, fed_y[:1])],
        {fed_x: x, fed_y: y},
    )
    for result, wanted in zip(
        got, [expected(x, y), expected(x, one), expected(one, y), expected(x, y[:1])], strict=True
    ):
        assert result.dtype == bool
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize(
    "dtype", "float16 float32 float64 int8 int16 int32 int64 uint16 uint32 uint64 complex64 complex128 bool".split()
)
def test_choices_keep_every_bit(dtype):
    random = np.random.RandomState(1)
    size = np.dtype(dtype).itemsize
    if dtype == "bool":
        x, y = random.rand(2, *SHAPE) > 0.5
    else:
        x, y = (np.frombuffer(random.bytes(SHAPE[0] * SHAPE[1] * size), dtype).reshape(SHAPE) for _ in range(2))
    mask = random.rand(*SHAPE) > 0.5
    m, t, e = tf.placeholder(tf.bool, SHAPE), tf.placeholder(dtype, SHAPE), tf.placeholder(dtype, SHAPE)
    got = run(
        [
            tf.where(m, t, e),
            tf.where(m[:, 0], t, e),
            tf.where_v2(m, t, e[:1]),
            tf.where_v2(m, t[0, 0], e),
            tf.where_v2(m[:, :1], t, e),
        ],
        {m: mask, t: x, e: y},
    )
    column = mask[:, :1]
    wanted = [(mask, x, y), (column, x, y), (mask, x, y[:1]), (mask, x[0, 0], y), (column, x, y)]
    for result, arguments in zip(got, wanted, strict=True):
        assert result.tobytes() == np.where(*arguments).tobytes()


@pytest.mark.parametrize("dtype", "float16 float32 float64 int8 uint8 int32 int64 complex64".split())
def test_masks_as_numbers(dtype):
    mask = np.random.RandomState(2).rand(*SHAPE) > 0.5
    result = run(tf.cast(tf.constant(mask), dtype))
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, mask.astype(dtype))


def test_the_larger_and_the_smaller_take_the_first_where_nothing_can_be_compared():
    x, y = odd_values()
    a, b = tf.placeholder(tf.float32, SHAPE), tf.placeholder(tf.float32, SHAPE)
    pairs = [
        (a, x, b, y),
        (a, x, tf.constant(0.5), np.float32(0.5)),
        (tf.constant(0.5), np.float32(0.5), b, y),
        (a, x, a, x),
    ]
    for first, left, second, right in pairs:
        larger, smaller = run([tf.maximum(first, second), tf.minimum(first, second)], {a: x, b: y})
        np.testing.assert_array_equal(larger, np.where(left < right, right, left))
        np.testing.assert_array_equal(smaller, np.where(right < left, right, left))
    clipped = run(tf.clip_by_value(a, -0.5, 0.5), {a: x})
    np.testing.assert_array_equal(clipped, np.clip(x, -0.5, 0.5))


@pytest.mark.parametrize("size", [1, 3, 17, 40, SMALLEST + 1])
@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_of_two_zeros_the_first_is_taken_wherever_they_are(dtype, size):
    x, y = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [None])
    bound = tf.placeholder(dtype, [])
    for pick in (tf.maximum, tf.minimum):
        made = [pick(x, y), pick(x, bound), pick(bound, x), pick(x, tf.constant(0.0, dtype)), pick(x, [0.0] * size)]
        with tf.Session() as sess:
            feeds = {x: np.full(size, -0.0), y: np.zeros(size), bound: 0.0}
            signs = [np.signbit(found) for found in sess.run(made, feeds)]
        assert [(s.all(), s.any()) for s in signs] == [(True, True)] * 2 + [(False, False)] + [(True, True)] * 2


def test_one_hot_of_one_place_leaves_its_inputs_alone():
    off = tf.constant(-2.0)
    hot = tf.one_hot(tf.placeholder_with_default(0, []), 1, 5.0, off)
    assert [value.tolist() for value in run([hot, off, hot + off])] == [[5.0], -2.0, [3.0]]


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("depth", [0, 6, 260])
@pytest.mark.parametrize(
    "indices", [np.array([1, -1, 7, 3]), np.array([[0, 5], [255, 2]], np.uint8), np.zeros([0], np.int32)]
)
def test_one_hot_leaves_out_what_is_not_there(indices, depth, axis):
    place = axis if axis >= 0 else indices.ndim
    lines = np.arange(depth).reshape([-1] + [1] * (indices.ndim - place))
    wanted = np.where(np.expand_dims(indices.astype(np.int64), place) == lines, 5.0, -2.0)
    np.testing.assert_array_equal(run(tf.one_hot(indices, depth, 5.0, -2.0, axis=axis)), wanted)
