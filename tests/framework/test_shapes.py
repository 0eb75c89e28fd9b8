"""Sizes and shapes of which anything may be unknown."""

import operator
import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.framework import shapes

UNKNOWN, OPEN = tf.TensorShape(None), tf.Dimension(None)


def test_an_unknown_size_equals_only_itself():
    shape = tf.TensorShape([None, 2])
    other = tf.TensorShape([None, 2])
    assert shape == shape and not shape != shape
    assert not shape == other and shape != other


def test_a_tensors_shape_equals_itself_and_not_that_of_another_with_unknown_sizes():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    assert x.shape == x.shape
    assert not x.shape == y.shape
    assert x.shape[1:] == y.shape[1:]


# --- one size ----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [3, "3", 3.0, np.int64(3), np.array(3), tf.Dimension(3)])
def test_what_stands_for_a_size(given):
    assert tf.Dimension(given).value == 3


@pytest.mark.parametrize(
    ("given", "error"),
    [(3.5, ValueError), (-1, ValueError), ("x", ValueError), ([1], TypeError), (tf.int32, TypeError)],
)
def test_what_is_no_size(given, error):
    with pytest.raises(error):
        tf.Dimension(given)


@pytest.mark.parametrize(
    "apply", [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod], ids=lambda f: f.__name__
)
def test_arithmetic_with_sizes_and_numbers(apply):
    seven, three = tf.Dimension(7), tf.Dimension(3)
    assert apply(seven, three).value == apply(seven, 3).value == apply(7, three).value == apply(7, 3)
    assert apply(seven, OPEN).value is apply(OPEN, 3).value is apply(seven, None).value is None


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: tf.Dimension(3) - 7, ValueError),
        (lambda: tf.Dimension(3) // 0, ZeroDivisionError),
        (lambda: tf.Dimension(3) / 2, TypeError),
        (lambda: tf.Dimension(3) + "a", TypeError),
        (lambda: int(OPEN), TypeError),
        (lambda: [1, 2][OPEN], TypeError),
        (lambda: hash(tf.Dimension(3)), TypeError),
        (lambda: tf.Dimension(3).merge_with(4), ValueError),
        (lambda: tf.Dimension(3).assert_is_compatible_with(4), ValueError),
    ],
)
def test_what_sizes_do_not_do(wrong, error):
    with pytest.raises(error):
        wrong()


def test_comparisons_with_an_unknown_size_are_neither_true_nor_false():
    three = tf.Dimension(3)
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        assert compare(three, 2) is compare(3, 2) and compare(three, tf.Dimension(3)) is compare(3, 3)
        assert compare(three, OPEN) is compare(OPEN, OPEN) is compare(three, None) is None
    assert three != "a" and [1, 2, 3, 4][three] == 4


def test_sizes_of_which_one_may_be_unknown():
    assert tf.Dimension(3).merge_with(None).value == OPEN.merge_with(3).value == 3
    assert OPEN.is_compatible_with(5) and tf.Dimension(3).is_compatible_with(None)
    assert not tf.Dimension(3).is_compatible_with(4)
    assert (str(tf.Dimension(3)), str(OPEN), repr(OPEN)) == ("3", "?", "Dimension(None)")


def test_a_size_is_true_whatever_it_is():
    """As any object: programs that mean its number ask for `value`."""
    assert tf.Dimension(0) and OPEN and tf.Dimension(3)


# --- shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (None, None),
        ([], ()),
        ((1, None), (1, None)),
        (3, (3,)),
        (tf.Dimension(3), (3,)),
        ([tf.Dimension(3), None], (3, None)),
        (tf.TensorShape([1]), (1,)),
        (tf.TensorShape([1, None]).as_proto(), (1, None)),
        (UNKNOWN.as_proto(), None),
        (np.array([1, 2]), (1, 2)),
        (range(3), (0, 1, 2)),
    ],
    ids=str,
)
def test_what_stands_for_a_shape(given, sizes):
    made = tf.TensorShape(given)
    assert made.sizes == sizes
    assert tf.TensorShape(made.as_proto()).sizes == pickle.loads(pickle.dumps(made)).sizes == sizes


@pytest.mark.parametrize(("given", "error"), [("12", TypeError), ([-1], ValueError), ([1.5], ValueError)])
def test_what_is_no_shape(given, error):
    with pytest.raises(error):
        tf.TensorShape(given)


@pytest.mark.parametrize(
    ("one", "other", "merged", "most_specific"),
    [
        (None, [2], [2], None),
        ([], [], [], []),
        ([None], [2], [2], [None]),
        ([2, None], [None, 3], [2, 3], [None, None]),
        ([2, 3], [2, 3], [2, 3], [2, 3]),
        ([2], [3], ValueError, [None]),
        ([2], [2, None], ValueError, None),
        ([], [None], ValueError, None),
    ],
)
def test_two_shapes_of_one_tensor(one, other, merged, most_specific):
    one, other = tf.TensorShape(one), tf.TensorShape(other)
    assert one.is_compatible_with(other) is other.is_compatible_with(one) is (merged is not ValueError)
    for a, b in ((one, other), (other, one)):
        if merged is ValueError:
            with pytest.raises(ValueError, match="not compatible"):
                a.merge_with(b)
            with pytest.raises(ValueError, match="incompatible"):
                a.assert_is_compatible_with(b)
        else:
            assert a.merge_with(b).as_list() == merged
        assert a.most_specific_compatible_shape(b).sizes == tf.TensorShape(most_specific).sizes


def test_one_shape_after_another():
    two = tf.TensorShape([2, None])
    assert (two + [1]).as_list() == [2, None, 1] and ([1] + two).as_list() == [1, 2, None]
    assert two.concatenate(UNKNOWN).rank is None and UNKNOWN.concatenate([1]).rank is None


def test_parts_of_a_shape():
    shape = tf.TensorShape([2, None, 5])
    assert shape[0].value == 2 and shape[-2].value is None and shape[1:].as_list() == [None, 5]
    assert shape[:-1].as_list() == [2, None] and shape[5:].as_list() == [] and shape[::2].as_list() == [2, 5]
    assert [d.value for d in shape] == [2, None, 5] and len(shape) == 3
    with pytest.raises(IndexError):
        shape[3]


def test_parts_of_what_is_not_known():
    assert UNKNOWN[0].value is None and UNKNOWN[1:].rank is None and UNKNOWN[-2:1].rank is None
    assert UNKNOWN[:2].as_list() == UNKNOWN[1:3].as_list() == [None, None]
    for ask in (len, list, lambda s: s.as_list(), lambda s: s[::2], lambda s: s != UNKNOWN):
        with pytest.raises(ValueError):
            ask(UNKNOWN)
    assert UNKNOWN == tf.TensorShape(None) and not UNKNOWN == tf.TensorShape([])
    assert UNKNOWN.num_elements() is UNKNOWN.ndims is UNKNOWN.dims is None and not UNKNOWN


def test_what_is_asked_of_ranks():
    for shape in (UNKNOWN, tf.TensorShape([None, 3])):
        assert shape.with_rank(2).rank == 2 and shape.with_rank_at_least(2) is shape is shape.with_rank_at_most(2)
        shape.assert_has_rank(2)
        shape.assert_same_rank([1, 2])
    two = tf.TensorShape([None, 3])
    for ask in (
        lambda: two.with_rank(1),
        lambda: two.with_rank_at_least(3),
        lambda: two.with_rank_at_most(1),
        lambda: two.assert_has_rank(3),
        lambda: two.assert_same_rank([1]),
    ):
        with pytest.raises(ValueError, match="rank"):
            ask()


def test_shapes_that_are_whole():
    whole, part = tf.TensorShape([2, 0]), tf.TensorShape([2, None])
    assert whole.is_fully_defined() and not part.is_fully_defined() and not UNKNOWN.is_fully_defined()
    assert whole.num_elements() == 0 and tf.TensorShape([]).num_elements() == 1 and part.num_elements() is None
    whole.assert_is_fully_defined()
    with pytest.raises(ValueError, match="not fully defined"):
        part.assert_is_fully_defined()


def test_equality_with_what_stands_for_a_shape():
    assert tf.TensorShape([2]) == [2] == tf.TensorShape([2]) and tf.TensorShape([2]) == 2
    assert tf.TensorShape([2]) != [3] and tf.TensorShape([2]) != "a"
    with pytest.raises(TypeError):
        hash(tf.TensorShape([2]))
    assert (str(tf.TensorShape([2, None])), str(UNKNOWN)) == ("(2, ?)", "<unknown>")


# --- broadcasting ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ([], [], []),
        ([2, 1], [3], [2, 3]),
        ([None], [1], [None]),
        ([None], [3], [3]),  # the open side is 1 or 3
        ([None, 1], [None], [None, None]),
        ([0], [1], [0]),
        (None, [2], None),
    ],
)
def test_shapes_that_broadcast(one, other, both):
    for a, b in ((one, other), (other, one)):
        found = shapes.broadcast(tf.TensorShape(a), tf.TensorShape(b))
        assert found.sizes == tf.TensorShape(both).sizes


def test_shapes_that_do_not():
    with pytest.raises(ValueError, match="are 2 and 3"):
        shapes.broadcast(tf.TensorShape([2]), tf.TensorShape([4, 3]))


@pytest.mark.parametrize(
    ("x", "y"), [((2, 3), (2, 3)), ((2, 1), (3,)), ((1,), (2, 1)), ((), (2, 3)), ((4, 1, 3), (5, 1))]
)
def test_gradients_are_summed_over_what_was_broadcast(x, y):
    result = np.zeros(np.broadcast_shapes(x, y))
    for shape, axes in zip((x, y), shapes.broadcast_gradient_axes(x, y), strict=True):
        assert result.sum(tuple(axes)).size == np.prod(shape)


def test_further_forms():
    assert shapes.unknown_shape().rank is None and shapes.unknown_shape(2).as_list() == [None, None]
    assert shapes.unknown_shape(ndims=1).as_list() == [None]
    with pytest.raises(TypeError):
        shapes.unknown_shape(sides=1)
    assert (shapes.scalar().sizes, shapes.vector(3).sizes, shapes.matrix(2, None).sizes) == ((), (3,), (2, None))
    assert [shapes.is_size(v) for v in (None, 3, np.int64(3), OPEN, "3", 3.0)] == [True] * 4 + [False] * 2
