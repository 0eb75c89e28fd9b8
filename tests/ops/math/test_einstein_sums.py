"""Sums of products in Einstein's notation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

RANDOM = np.random.RandomState(0)


letters = st.lists(st.sampled_from("abcde"), unique=True, min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(letters, letters, st.data())
def test_einsum_of_two_against_numpy(first, second, data):
    sizes = {"a": 2, "b": 3, "c": 1, "d": 2, "e": 4}
    every = sorted(set(first) | set(second))
    output = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=4))
    equation = f"{''.join(first)},{''.join(second)}->{''.join(output)}"
    x = RANDOM.randn(*(sizes[c] for c in first))
    y = RANDOM.randn(*(sizes[c] for c in second))
    with tf.Graph().as_default(), tf.Session() as sess:
        known = tf.einsum(equation, x, y)
        p = tf.placeholder(tf.float64, [None] * x.ndim)
        wanted = np.einsum(equation, x, y)
        np.testing.assert_allclose(sess.run(known), wanted, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(sess.run(tf.einsum(equation, p, y), {p: x}), wanted, rtol=1e-9, atol=1e-12)


def test_einsum_forms(sess):
    m, n, v = RANDOM.randn(2, 3), RANDOM.randn(3, 4), RANDOM.randn(4)
    for equation, args in (
        ("ij,jk", (m, n)),
        ("ij->ji", (m,)),
        ("ij->", (m,)),
        ("ij,jk,k->i", (m, n, v)),
        ("i j, j k -> i k", (m, n)),
    ):
        np.testing.assert_allclose(sess.run(tf.einsum(equation, *args)), np.einsum(equation, *args))
    np.testing.assert_allclose(sess.run(tf.einsum("...i,ij->...j", m, n)), m @ n)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [[2, 3]]),
        ("ijk,jk->ik", [[2, 3], [3, 4]]),
        ("ij->ik", [[2, 3]]),
        ("ii->i", [[2, 2]]),
        ("ij->jk->kl", [[2, 3]]),
        ("ij,ik->jk", [[2, 3], [3, 4]]),
    ],
)
def test_einsum_refuses(equation, shapes):
    with pytest.raises(ValueError):
        tf.einsum(equation, *(tf.ones(shape) for shape in shapes))


def test_a_letter_twice_is_a_trace():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        assert sess.run(tf.einsum("ii", tf.constant([[1.0, 2.0], [3.0, 4.0]]))) == 5.0
        assert [op.name for op in graph.get_operations()][-1] == "einsum/Trace"
        for equation in ("->", "", "ii->i", "ii->"):
            with pytest.raises(ValueError):
                tf.einsum(equation, tf.ones([2, 2]))
