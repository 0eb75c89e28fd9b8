"""Slices as gradients: made tensors, added up, and made of tensors."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.sparse import indexed_slices

pytestmark = pytest.mark.usefixtures("own_graph")


def slices(values, indices, rows=4, dtype=tf.int32):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices, dtype), tf.constant([rows, 1]))


def run(value):
    with tf.Session() as session:
        return session.run(value)


def test_slices_as_a_tensor():
    made = tf.convert_to_tensor(slices([[1.0], [2.0], [4.0]], [0, 3, 0]))
    assert made.op.type == "UnsortedSegmentSum"
    np.testing.assert_array_equal(run(made), [[5], [0], [0], [2]])


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))),
        lambda: tf.convert_to_tensor(slices([[1.0]], [0]), tf.int32),
    ],
)
def test_slices_that_cannot_become_one(build):
    with pytest.raises(ValueError):
        build()


def test_sums_of_slices_are_slices_unless_one_is_a_tensor():
    a, b = slices([[1.0]], [0]), slices([[2.0], [3.0]], [1, 0])
    total = indexed_slices.total([a, b])
    assert isinstance(total, tf.IndexedSlices)
    assert run(total.indices).tolist() == [0, 1, 0] and run(total.values).ravel().tolist() == [1, 2, 3]
    whole = indexed_slices.total([a, tf.ones([4, 1])])
    assert isinstance(whole, tf.Tensor) and run(whole).ravel().tolist() == [2, 1, 1, 1]


def test_indices_of_one_type():
    found = indexed_slices.as_indexed_slices_list([slices([[1.0]], [0]), slices([[1.0]], [0], dtype=tf.int64)])
    assert [s.indices.dtype for s in found] == [tf.int64, tf.int64]
    same = [slices([[1.0]], [0]), slices([[1.0]], [1])]
    assert indexed_slices.as_indexed_slices_list(same) == same
    with pytest.raises(TypeError):
        indexed_slices.as_indexed_slices_list(same[0])


def test_a_tensor_is_all_of_its_rows():
    made = indexed_slices.as_indexed_slices(tf.constant([[1.0], [2.0]]))
    assert run(made.indices).tolist() == [0, 1] and run(made.dense_shape).tolist() == [2, 1]
    with pytest.raises(TypeError):
        indexed_slices.as_indexed_slices(3)


def test_sums_are_made_where_their_parts_are():
    parts = []
    for device in ("/cpu:0", "/cpu:1", "/cpu:0"):
        with tf.device(device):
            parts.append(tf.constant([1.0]))
    total = indexed_slices.add_by_device(parts)
    first, second = total.op.inputs
    assert first.op.type == "AddN" and first.op.colocation_groups() == parts[0].op.colocation_groups()
    assert second is parts[1]
    alone = tf.constant([1.0])
    assert indexed_slices.add_n([alone]) is alone
