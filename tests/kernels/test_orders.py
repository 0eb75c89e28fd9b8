"""Sorted rows, largest and distinct values, roots of many: the quick ways for common types against numpy."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(0)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetch):
    with tf.Session() as session:
        return session.run(fetch)


@pytest.mark.parametrize(
    "rows",
    [
        RANDOM.randn(30, 100).astype(np.float32),
        RANDOM.randint(-5, 5, (3, 4, 100)).astype(np.float32),
        RANDOM.randint(-50, 50, 300).astype(np.int32),
        np.where(RANDOM.rand(4, 64) > 0.5, 0.0, -0.0).astype(np.float32),
        np.float32([[np.inf, -np.inf, 1e-35, -1e-35] * 20]),
        np.array([[2**31 - 1, -(2**31)] * 30], np.int32),
        RANDOM.randn(5, 70),
        RANDOM.randn(2, 3, 5000).astype(np.float32),
        RANDOM.randint(-5, 5, (2, 4100)).astype(np.float32),
        RANDOM.randint(0, 3, (2, 4096)),
        np.where(np.arange(9000) < 10, 1.0, -np.inf)[None],
    ],
)
def test_equal_values_keep_their_order(rows):
    length = rows.shape[-1]
    for k in (1, 3, length // 2, length):
        values, indices = run(tf.nn.top_k(rows, k))
        wanted = np.argsort(-rows.astype(np.float64), -1, kind="stable")[..., :k]
        np.testing.assert_array_equal(indices, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(rows, wanted, -1))
    np.testing.assert_array_equal(run(tf.sort(rows, direction="DESCENDING")), np.sort(rows)[..., ::-1])


@pytest.mark.parametrize(
    "keys",
    [
        RANDOM.randint(-50, 50, 1000),
        RANDOM.randint(0, 2**62, 100),
        np.array([2**63 - 1, -(2**63), 2**63 - 1]),
        RANDOM.randint(-128, 128, 500).astype(np.int8),
        RANDOM.randint(0, 256, 500).astype(np.uint8),
        np.zeros(0, np.int32),
    ],
)
def test_distinct_values_come_as_they_are_first_seen(keys):
    values, indices, counts = run(tf.unique_with_counts(tf.constant(keys)))
    seen: dict = {}
    assert indices.tolist() == [seen.setdefault(int(key), len(seen)) for key in keys]
    assert values.tolist() == list(seen)
    assert counts.tolist() == [int((keys == key).sum()) for key in seen]


def test_a_row_whose_sum_is_too_large_is_still_judged():
    predictions = np.float32([[3e38, 2e38, 1e38], [np.inf, 1, 2], [1, 2, 3], [np.nan, 1, 2]])
    assert run(tf.nn.in_top_k(predictions, [1, 1, 2, 1], 2)).tolist() == [True, False, True, False]


@pytest.mark.parametrize("beta", [0.5, 0.75, 0.6])
def test_local_response_normalization(beta):
    x = RANDOM.rand(2, 3, 4, 9).astype(np.float32)
    squares = np.pad(x * x, [(0, 0)] * 3 + [(2, 2)])
    around = sum(squares[..., i : i + 9] for i in range(5))
    result = run(tf.nn.local_response_normalization(x, depth_radius=2, bias=1.5, alpha=0.3, beta=beta))
    np.testing.assert_allclose(result, x / (1.5 + 0.3 * around) ** beta, rtol=1e-5)


def test_roots_of_many_values():
    values = np.concatenate([np.zeros(3000), np.random.RandomState(3).rand(3000), [-1.0, np.inf, np.nan]]).astype(
        np.float32
    )
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run(tf.sqrt(tf.placeholder_with_default(values, [None]))), np.sqrt(values))
