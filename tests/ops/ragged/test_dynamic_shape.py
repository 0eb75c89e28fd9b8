"""Shapes of ragged tensors as tensors, and what is broadcast by them. Expected values are TensorFlow's."""

import pytest

import everflow as tf
from everflow.ops.ragged.dynamic_shape import RaggedTensorDynamicShape, broadcast_dynamic_shape, broadcast_to
from tests.ops.ragged.rows import run

pytestmark = pytest.mark.usefixtures("own_graph")

shape_of = RaggedTensorDynamicShape.from_dim_sizes


def sizes(shape):
    return [run(size) for size in shape.partitioned_dim_sizes], run(shape.inner_dim_sizes)


def test_sizes_of_a_tensor():
    shape = RaggedTensorDynamicShape.from_tensor(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1))
    assert sizes(shape) == ([2, [1, 2]], [2])
    assert (shape.rank, shape.num_partitioned_dimensions, shape.num_inner_dimensions) == (3, 2, 1)
    assert [shape.is_ragged(axis) for axis in range(3)] == [False, True, False]
    assert [run(shape.num_slices_in_dimension(axis)) for axis in range(3)] == [2, 3, 6]
    assert sizes(RaggedTensorDynamicShape.from_tensor([[1, 2], [3, 4]])) == ([], [2, 2])


def test_partitioned_dimensions_begin_uniform_and_end_ragged():
    for dims in ([[1, 2]], [2]):
        with pytest.raises(ValueError):
            RaggedTensorDynamicShape(dims, [3])


@pytest.mark.parametrize(
    "dims, rank, expected",
    [([2, 3], 3, ([], [1, 2, 3])), ([2, [1, 2]], 4, ([1, 1, 2, [1, 2]], [])), ([2, [1, 2]], 2, ([2, [1, 2]], []))],
)
def test_more_dimensions(dims, rank, expected):
    assert sizes(shape_of(dims).broadcast_to_rank(rank)) == expected


def test_fewer_dimensions():
    with pytest.raises(ValueError):
        shape_of([2, [1, 2]]).broadcast_to_rank(1)


@pytest.mark.parametrize(
    "dims, axis, lengths, expected",
    [
        ([1], 0, 5, ([], [5])),
        ([2, 1], 1, [3, 4], ([2, [3, 4]], [])),
        ([2, [1, 2]], 1, [1, 2], ([2, [1, 2]], [])),
        ([1, [3]], 0, 2, ([2, [3, 3]], [])),
        ([2, 1, [1, 2]], 1, [1, 2], ([2, [1, 2], [1, 2, 2]], [])),
        ([2, [1, 1], 1], 2, [1, 2], ([2, [1, 1], [1, 2]], [])),
        ([1, 3, [1, 2, 3]], 0, 2, ([2, 3, [1, 2, 3, 1, 2, 3]], [])),
    ],
)
def test_one_dimension(dims, axis, lengths, expected):
    assert sizes(shape_of(dims).broadcast_dimension(axis, lengths)) == expected


@pytest.mark.parametrize("dims, axis, lengths", [([2, 3], 1, 4), ([2, [3, 2]], 1, [1, 1]), ([2, [1, 3]], 1, 3)])
def test_sizes_that_differ(dims, axis, lengths):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sizes(shape_of(dims).broadcast_dimension(axis, lengths))


@pytest.mark.parametrize(
    "x, y, expected",
    [
        ([2, [3, 1]], [2, 1], ([2, [3, 1]], [])),
        ([2, [3, 1], 4], [4], ([2, [3, 1]], [4])),
        ([1, [2]], [3, 1], ([3, [2, 2, 2]], [])),
        ([1, 3, [1, 2, 3]], [2, 1, 1], ([2, 3, [1, 2, 3, 1, 2, 3]], [])),
    ],
)
def test_two_shapes(x, y, expected):
    assert sizes(broadcast_dynamic_shape(shape_of(x), shape_of(y))) == expected
    assert sizes(broadcast_dynamic_shape(shape_of(y), shape_of(x))) == expected


@pytest.mark.parametrize(
    "value, dims, expected",
    [
        (5, [3], [5, 5, 5]),
        ([[1], [2]], [2, [3, 1]], [[1, 1, 1], [2]]),
        ([[[1, 2]], [[3, 4]]], [2, [1, 3], 2], [[[1, 2]], [[3, 4], [3, 4], [3, 4]]]),
        ([[1, 2]], [2, [1, 3], 2], [[[1, 2]], [[1, 2], [1, 2], [1, 2]]]),
    ],
)
def test_a_tensor_is_repeated(value, dims, expected):
    assert run(broadcast_to(value, shape_of(dims))) == expected


def test_operators_broadcast():
    deep = tf.ragged.constant([[[1, 2], [3]], [[4]]])
    assert run(deep + [[[10]], [[20]]]) == [[[11, 12], [13]], [[24]]]
    assert run(deep + [10]) == [[[11, 12], [13]], [[14]]]


@pytest.mark.parametrize(
    ("sizes", "axis", "lengths", "wanted"),
    [
        ([2, 1, 3], 1, 5, [[], [2, 5, 3]]),
        ([2, 1, 3], 1, [3, 4], [[2, [3, 4]], [3]]),
        ([2, [1, 2], 1], 2, [1, 2, 3], [[2, [1, 2], [1, 2, 3]], []]),
        ([1, [3], 1], 0, 4, [[4, [3, 3, 3, 3]], [1]]),
        ([2, 1, [2, 3]], 1, 2, [[2, 2, [2, 3, 2, 3]], []]),
        ([2, 1, [2, 3]], 1, [2, 1], [[2, [2, 1], [2, 2, 3]], []]),
    ],
)
def test_a_dimension_of_one_is_repeated(sizes, axis, lengths, wanted):
    shape = RaggedTensorDynamicShape.from_dim_sizes(sizes).broadcast_dimension(axis, lengths)
    with tf.Session() as session:
        partitioned, inner = session.run([list(shape.partitioned_dim_sizes), shape.inner_dim_sizes])
    assert [[p.tolist() for p in partitioned], inner.tolist()] == wanted


def test_rows_that_are_fewer_deep_are_put_into_one():
    deep = tf.ragged.constant([[[1], [2, 3]], []], dtype=tf.int32)
    assert run(deep + tf.constant([[[10]], [[20]]])) == [[[11], [12, 13]], []]
    assert run(deep * 2) == [[[2], [4, 6]], []]
    assert run(tf.less(x=tf.ragged.constant([[1], [5]]), y=tf.ragged.constant([[2], [3]]))) == [[True], [False]]
