"""Equations of Einsum: labels of the inputs and the output, and the sizes that they stand for."""

import pytest

from everflow.framework.shapes import TensorShape
from everflow.framework.slicing import read_equation, sizes_of_labels


def test_an_equation_is_labels():
    assert read_equation("a...b,b->a...", 2) == ([["a", "...", "b"], ["b"]], ["a", "..."])
    assert read_equation("->", 1) == ([[]], [])


@pytest.mark.parametrize("equation", ["ab", "a->b", "a.b->a", "a->a,a", "a,b,c->abc"])
def test_what_is_no_equation(equation):
    with pytest.raises(ValueError):
        read_equation(equation, equation.count(",") + 1)


def test_labels_stand_for_sizes():
    sizes = sizes_of_labels(["a", "...", "a"], TensorShape([2, 3, 4, None]))
    assert {label: shape.as_list() for label, shape in sizes.items()} == {"a": [2], "...": [3, 4]}
    assert sizes_of_labels(["a", "..."], TensorShape(None))["..."].rank is None
    with pytest.raises(ValueError):
        sizes_of_labels(["a", "a"], TensorShape([2, 3]))
    with pytest.raises(ValueError):
        sizes_of_labels(["a"], TensorShape([2, 3]))
