"""The Einsum op: static shapes, the refusal of equations that are none, and labels that its output has twice."""

import numpy as np
import pytest

import everflow as tf

R = tf.raw_ops


def einsum(equation, *arrays):
    return R.Einsum(inputs=[tf.constant(array) for array in arrays], equation=equation)


@pytest.mark.parametrize(
    ("equation", "shapes", "expected"),
    [
        ("ab->ba", [(2, None)], [None, 2]),
        ("ab,bc->ac", [(2, 3), (None, 4)], [2, 4]),
        ("...b,...c->...bc", [(None, 3), (None, 4)], [None, 3, 4]),
        ("a->aa", [(3,)], [3, 3]),
        ("ab->ba", [None], [None, None]),
    ],
)
def test_shapes_follow_the_labels(equation, shapes, expected):
    inputs = [tf.placeholder(tf.float32, shape) for shape in shapes]
    assert R.Einsum(inputs=inputs, equation=equation).shape.as_list() == expected


@pytest.mark.parametrize("equation", ["a", "a->a->a", "a->b", ".a->a", "...a...->a", "ab->a", "a,b->ab", "...->"])
def test_what_is_no_equation_of_one_vector_is_refused(equation):
    with pytest.raises(ValueError):
        einsum(equation, np.ones(3, np.float32))


def test_what_only_a_run_tells_is_refused_then(sess):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(R.Einsum(inputs=[x], equation="aa->a"), {x: np.ones([2, 3])})


def test_a_label_that_comes_again_lies_on_the_diagonal(sess):
    np.testing.assert_array_equal(sess.run(einsum("a->aa", np.array([1.0, 2.0]))), np.diag([1.0, 2.0]))
    matrix = np.arange(12.0).reshape(2, 2, 3)
    found = sess.run(einsum("aa...->a...a", matrix))
    assert found.shape == (2, 3, 2)
    np.testing.assert_array_equal(found[0, :, 0], matrix[0, 0])
    np.testing.assert_array_equal(found[0, :, 1], 0)
