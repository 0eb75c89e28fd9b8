"""Products by either library: the right numbers, and the same choice whoever asks."""

import platform
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework.shapes import TensorShape
from everflow.kernels.math import products
from everflow.kernels.math.products import is_for_onednn, is_surely_small, multiply, multiply_and_add

# Rows, inner size and columns of products on both sides of the limit, some with odd numbers.
SIZES = [(3, 5, 7), (20, 400, 800), (33, 777, 513), (1, 3000, 3000), (190, 190, 190), (64, 100, 1100), (300, 300, 70)]


def matrix(rows, columns, turned, seed):
    made = torch.from_numpy(np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32))
    return made.t().contiguous().t() if turned else made


@pytest.fixture(
    params=[(m, k, n, ta, tb) for m, k, n in SIZES for ta in (False, True) for tb in (False, True)], ids=str
)
def pair(request):
    m, k, n, turned_a, turned_b = request.param
    return matrix(m, k, turned_a, 0), matrix(k, n, turned_b, 1)


def test_numbers(pair):
    a, b = pair
    exact = a.double() @ b.double()
    error = (multiply(a, b).double() - exact).abs().max()
    assert error <= 1e-6 * a.shape[1] ** 0.5 * 30


def test_the_bias_comes_last(pair):
    a, b = pair
    bias = torch.linspace(-2, 2, b.shape[1])
    assert torch.equal(multiply_and_add(a, b, bias), multiply(a, b) + bias)
    every_other = torch.linspace(-2, 2, 2 * b.shape[1])[::2]
    assert torch.equal(multiply_and_add(a, b, every_other), multiply(a, b) + every_other)


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="elsewhere ATen chooses")
def test_sizes_and_order_decide():
    assert is_for_onednn(matrix(20, 400, False, 0), matrix(400, 800, True, 1))
    assert not is_for_onednn(matrix(20, 400, True, 0), matrix(400, 800, False, 1))
    assert is_for_onednn(matrix(64, 100, True, 0), matrix(100, 1100, False, 1))
    assert not is_for_onednn(matrix(64, 64, False, 0), matrix(64, 64, False, 1))
    assert not is_for_onednn(matrix(400, 400, False, 0).double(), matrix(400, 400, False, 1).double())


def test_a_build_without_onednn(monkeypatch):
    monkeypatch.setattr(products, "_linear", lambda: None)
    a, b = matrix(200, 300, False, 0), matrix(300, 400, False, 1)
    assert not is_for_onednn(a, b)
    assert torch.equal(multiply(a, b), torch.mm(a, b))


def test_shapes_that_do_not_fit():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        multiply(matrix(300, 300, False, 0), matrix(301, 300, False, 1))


def product_of(a, b, made):
    inputs = [(SimpleNamespace(output_shapes=[TensorShape(s)]), 0) for s in (a, b)]
    return SimpleNamespace(inputs=inputs, output_shapes=[TensorShape(made)])


def test_what_the_graph_knows():
    assert is_surely_small(product_of([100, 200], [200, 300], [100, 300]))
    assert not is_surely_small(product_of([100, 200], [200, 320], [100, 320]))
    assert not is_surely_small(product_of([None, 200], [200, 300], [None, 300]))
    assert not is_surely_small(product_of(None, [200, 300], None))


def test_the_graph_and_the_kernel_choose_alike():
    """Plans for open shapes, even of open rank, and for known ones give the same bits."""
    rng = np.random.default_rng(2)
    left, right = rng.standard_normal((64, 400), np.float32), rng.standard_normal((400, 800), np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        results = []
        for shape_a, shape_b in ((None, None), ([None, None], [None, None]), ([64, 400], [400, 800])):
            a, b = tf.placeholder(tf.float32, shape_a), tf.placeholder(tf.float32, shape_b)
            results.append(sess.run(tf.matmul(a, b), {a: left, b: right}))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
