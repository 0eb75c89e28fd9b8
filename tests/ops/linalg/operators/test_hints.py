"""What is known of a product of operators."""

import pytest

import everflow as tf
from everflow.ops.linalg.operators import hints


def _operator(rows=2, columns=2, **known):
    return tf.linalg.LinearOperatorFullMatrix(tf.ones([rows, columns]), **known)


def test_squares():
    assert hints.is_square(_operator(), _operator()) is True
    assert hints.is_square(_operator(2, 3), _operator(3, 2)) is True
    assert hints.is_square(_operator(2, 3), _operator(3, 4)) is False
    assert hints.is_square(_operator(2, 3), _operator(3, 3)) is False


@pytest.mark.parametrize(
    "a, b, product", [(True, True, True), (True, False, False), (True, None, None), (None, None, None)]
)
def test_hints_of_two(a, b, product):
    assert hints.combined_non_singular_hint(_operator(is_non_singular=a), _operator(is_non_singular=b)) is product
    found = hints.combined_commuting_self_adjoint_hint(_operator(is_self_adjoint=a), _operator(is_self_adjoint=b))
    assert found is product


def test_a_product_is_positive_definite_where_both_are_and_commute():
    sure = {"is_positive_definite": True, "is_self_adjoint": True}
    both = hints.combined_commuting_positive_definite_hint
    assert both(_operator(**sure), _operator(**sure)) is True
    assert both(_operator(**sure), _operator()) is None
