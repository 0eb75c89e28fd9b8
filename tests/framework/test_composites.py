"""Values made of several tensors: what they are made from, what is known of them, and their types."""

import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.framework.composites import CompositeTensor, IndexedSlicesSpec, is_sparse

pytestmark = pytest.mark.usefixtures("own_graph")


def sparse(indices=((0, 0),), values=(1.0,), dense_shape=(1, 2)):
    return tf.SparseTensor(np.array(indices), list(values), dense_shape)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"indices": [[0, 0]], "values": [1.0, 2.0], "dense_shape": [1, 2]}, ValueError),
        ({"indices": [[0, 0]], "values": [1.0], "dense_shape": [1, 2, 3]}, ValueError),
        ({"indices": [0, 0], "values": [1.0], "dense_shape": [1, 2]}, ValueError),
        ({"indices": [[0.5]], "values": [1.0], "dense_shape": [1]}, TypeError),
    ],
)
def test_parts_of_a_sparse_tensor_that_do_not_fit(arguments, error):
    with pytest.raises(error):
        tf.SparseTensor(**arguments)


def test_what_is_known_of_a_sparse_tensor():
    made = sparse()
    assert made.indices.dtype == made.dense_shape.dtype == tf.int64 and made.dtype == tf.float32
    assert made.shape.as_list() == [1, 2] and made.graph is tf.get_default_graph()
    assert [part.op.name for part in (made.indices, made.values, made.dense_shape)] == [
        "SparseTensor/indices",
        "SparseTensor/values",
        "SparseTensor/dense_shape",
    ]
    open_shape = tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), [1.0], tf.placeholder(tf.int64))
    assert open_shape.shape.rank is None
    assert tf.SparseTensor(tf.zeros([3, 2], tf.int64), tf.zeros([3]), tf.placeholder(tf.int64, [2])).shape.rank == 2


def test_values_become_tensors_and_nothing_else_does():
    value = tf.SparseTensorValue([[0]], [1.0], [1])
    made = tf.SparseTensor.from_value(value)
    assert isinstance(made, tf.SparseTensor) and tf.SparseTensor.from_value(made).values is made.values
    assert is_sparse(value) and is_sparse(made) and not is_sparse(made.values)
    with pytest.raises(TypeError, match="Neither"):
        tf.SparseTensor.from_value(([[0]], [1.0], [1]))


def test_an_operator_of_sparse_tensors_is_installed_once():
    with pytest.raises(ValueError, match="__mul__ cannot be overwritten"):
        tf.SparseTensor._override_operator("__mul__", None)


def test_a_run_of_a_sparse_tensor_gives_a_value():
    with tf.Session():
        value = sparse().eval()
    assert isinstance(value, tf.SparseTensorValue) and value.values.tolist() == [1.0]
    with pytest.raises(ValueError, match="No default session"):
        sparse().eval()


def test_slices():
    values, indices = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    made = tf.IndexedSlices(values, indices, tf.constant([5, 3]))
    assert (made.name, made.op, made.dtype, made.graph) == (values.name, values.op, tf.float32, values.graph)
    negative = -made
    assert negative.indices is indices and negative.values.op.type == "Neg"
    assert made.consumers() == [negative.values.op]
    assert str(tf.IndexedSlices(values, indices)).count("dense_shape") == 0
    assert tf.convert_to_tensor(made).shape.as_list() == [5, 3]
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(values, indices))


def test_the_type_of_slices():
    made = tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 4]), tf.constant([5, 3]))
    spec = made._type_spec
    assert spec.value_type is tf.IndexedSlices
    assert [(s.shape.as_list(), s.dtype) for s in spec._component_specs] == [
        ([2, 3], tf.float32),
        ([2], tf.int32),
        ([2], tf.int32),
    ]
    again = spec._from_components(spec._to_components(made))
    assert (again.values, again.indices, again.dense_shape) == (made.values, made.indices, made.dense_shape)
    assert len(tf.IndexedSlices(tf.zeros([2]), tf.constant([0, 1]))._type_spec._component_specs) == 2
    with pytest.raises(ValueError):
        IndexedSlicesSpec([5, 3], indices_shape=[2, 2])


@pytest.mark.parametrize(
    ("spec", "other", "fits"),
    [
        (([1, 2],), sparse, True),
        (([None, 2],), sparse, True),
        (([2, 2],), sparse, False),
        (([1, 2], tf.int32), sparse, False),
        ((None,), lambda: tf.SparseTensorValue(np.zeros([0, 2]), np.float32([]), [1, 2]), True),
        (([1, 3],), lambda: tf.SparseTensorValue(np.zeros([0, 2]), np.float32([]), [1, 2]), False),
        ((None,), lambda: tf.SparseTensorSpec([4]), True),
        ((None,), lambda: tf.TensorSpec([4]), False),
        ((None,), lambda: 1.0, False),
    ],
)
def test_what_fits_the_type_of_a_sparse_tensor(spec, other, fits):
    assert tf.SparseTensorSpec(*spec).is_compatible_with(other()) is fits


def test_the_type_of_a_sparse_tensor():
    spec = tf.SparseTensorSpec([None, 2], tf.int32)
    assert spec == tf.SparseTensorSpec([None, 2], tf.int32) == pickle.loads(pickle.dumps(spec))
    assert spec != tf.SparseTensorSpec([None, 3], tf.int32) and spec != tf.TensorSpec([None, 2], tf.int32)
    assert spec.most_specific_compatible_type(tf.SparseTensorSpec([1, 3], tf.int32)).shape.as_list() == [None, None]
    arrays = [np.array([[0, 1]]), np.array([7]), np.array([1, 2])]
    assert isinstance(spec._from_components(arrays), tf.SparseTensorValue)
    tensors = spec._to_components(tf.SparseTensorValue(*arrays))
    assert isinstance(spec._from_components(tensors), tf.SparseTensor)


def test_a_loop_lets_the_number_of_values_change():
    shapes = sparse()._kept_shapes(None)
    assert [s.as_list() for s in shapes] == [[None, 2], [None], [2]]
    with pytest.raises(ValueError, match="dense_shape"):
        sparse()._kept_shapes(tf.TensorShape([1, 2]))


def test_a_composite_says_what_it_has_to():
    for call in (lambda c: c._parts(), lambda c: c._fetched([]), lambda c: c._fed(1)):
        with pytest.raises(NotImplementedError):
            call(CompositeTensor())


def test_values_of_several_tensors_tell_what_they_are_made_of():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
        slices = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0]), tf.constant([2, 3]))
        for value in (sparse, slices):
            parts = value._to_components()
            assert value._is_graph_tensor and len(parts) == 3
            again = type(value)._from_components(parts, value._component_metadata())
            assert again.values is value.values
        used = tf.negative(sparse.values)
        assert sparse._consumers() == [used.op]
        assert sparse._shape_invariant_to_type_spec(tf.TensorShape([2])).shape.as_list() == [None, None]
        assert slices._shape_invariant_to_type_spec(tf.TensorShape([None, 3]))._indices_shape.as_list() == [None]
