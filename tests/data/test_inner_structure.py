"""Specs of elements by the names of TensorFlow's inner modules. Expected values are TensorFlow's."""

import pytest

import everflow as tf
from everflow.legacy.inner.data import sparse as data_sparse
from everflow.legacy.inner.data import structure as data_structure

pytestmark = pytest.mark.usefixtures("own_graph")


def values():
    return {
        "number": tf.constant(37.0),
        "pair": (tf.constant([1, 2, 3]), tf.SparseTensor([[3, 4]], [-1], [4, 5])),
        "rows": tf.ragged.constant([[1, 2], [], [4]]),
        "array": tf.TensorArray(tf.int32, element_shape=(3,), size=0),
    }


def test_there_and_back():
    element = values()
    spec = data_structure.type_spec_from_value(element)
    flat = data_structure.to_tensor_list(spec, element)
    assert [t.dtype.name for t in flat] == ["variant", "float32", "int32", "variant", "variant"]
    assert [t.dtype for t in flat] == data_structure.get_flat_tensor_types(spec)
    again = data_structure.from_tensor_list(spec, flat)
    assert data_structure.are_compatible(data_structure.type_spec_from_value(again), spec)


def test_tensors_that_do_not_fit():
    spec = tf.TensorSpec([2], tf.float32)
    for tensors in ([tf.constant([1, 2])], [tf.constant([1.0, 2.0, 3.0])], []):
        with pytest.raises(ValueError):
            data_structure.from_tensor_list(spec, tensors)
    with pytest.raises(ValueError):
        data_structure.to_tensor_list(spec, tf.constant([1, 2]))
    with pytest.raises(ValueError):
        data_structure.to_batched_tensor_list(tf.TensorSpec([], tf.float32), tf.constant(1.0))


@pytest.mark.parametrize(
    "one, other, compatible",
    [
        (tf.TensorSpec([2]), tf.TensorSpec([None]), True),
        (tf.TensorSpec([2]), tf.TensorSpec([3]), False),
        ((tf.TensorSpec([]),), tf.TensorSpec([]), False),
        ({"a": tf.TensorSpec([])}, {"b": tf.TensorSpec([])}, False),
        (tf.SparseTensorSpec([2, 3]), tf.SparseTensorSpec([None, 3]), True),
    ],
)
def test_compatible_specs(one, other, compatible):
    assert data_structure.are_compatible(one, other) == compatible


def test_batches_of_specs():
    assert tf.TensorSpec([2])._batch(4) == tf.TensorSpec([4, 2])
    assert tf.SparseTensorSpec([4, 5])._batch(None)._unbatch() == tf.SparseTensorSpec([4, 5])
    assert tf.RaggedTensorSpec([3, None], tf.int32)._batch(2)._ragged_rank == 2
    with pytest.raises(ValueError):
        tf.TensorSpec([])._unbatch()


def test_three_nests():
    made = data_structure.convert_legacy_structure(
        (tf.float32, tf.int32), (tf.TensorShape([]), tf.TensorShape([3])), (tf.Tensor, tf.SparseTensor)
    )
    assert made == (tf.TensorSpec([], tf.float32), tf.SparseTensorSpec([3], tf.int32))
    with pytest.raises(TypeError):
        data_structure.convert_legacy_structure(tf.float32, tf.TensorShape([]), int)
    rows = tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))
    assert tf.data.get_output_classes(rows) == tf.RaggedTensorSpec([2, None], tf.int32)


def test_arrays_as_elements():
    pairs = tf.data.Dataset.range(2).map(lambda i: tf.TensorArray(tf.int64, 2).unstack([i, i + 1]))
    element = pairs.map(lambda array: array.stack()).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element).tolist() for _ in range(2)] == [[0, 1], [1, 2]]


def test_sparse_tensors_among_others():
    sparse, dense = tf.SparseTensor([[0, 1]], [5], [2, 3]), tf.constant(1.0)
    classes = data_sparse.get_classes((sparse, dense))
    assert classes == (tf.SparseTensor, tf.Tensor)
    assert data_sparse.any_sparse(classes)
    shapes, types = (tf.TensorShape([2, 3]), tf.TensorShape([])), (tf.int32, tf.float32)
    assert data_sparse.as_dense_types(types, classes) == (tf.variant, tf.float32)
    assert data_sparse.as_dense_shapes(shapes, classes)[0].rank is None
    passed = data_sparse.serialize_sparse_tensors((sparse, dense))
    back, _ = data_sparse.deserialize_sparse_tensors(passed, types, shapes, classes)
    with tf.Session() as session:
        assert session.run(back).values.tolist() == [5]


def test_what_a_spec_is_asked():
    numbers = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert numbers._batch(5)._flat_tensor_specs == [tf.TensorSpec([5], tf.variant)]
    assert numbers._batch(3)._unbatch() == numbers and numbers._to_legacy_output_types() == numbers
    with pytest.raises(ValueError):
        numbers._unbatch()
    array = tf.TensorArraySpec([3], tf.int32, True, False)
    assert array._to_legacy_output_shapes().as_list() == [1, 0, 3]
    for spec in (array, tf.OptionalSpec(tf.TensorSpec([], tf.int32))):
        with pytest.raises(AttributeError):
            spec._batch(2)
    assert repr(tf.OptionalSpec(tf.TensorSpec([], tf.int32))).startswith("OptionalSpec(")


@pytest.mark.parametrize("leaf", [None, object(), tf.float32])
def test_what_has_no_spec(leaf):
    with pytest.raises(TypeError):
        data_structure.type_spec_from_value((1, leaf))


def test_values_of_another_kind():
    dense, sparse = tf.constant([1]), tf.SparseTensor([[0]], [1], [2])
    for spec, value, problem in (
        (tf.TensorSpec([1], tf.int32), sparse, ValueError),
        (tf.SparseTensorSpec([2], tf.int32), dense, TypeError),
        (tf.RaggedTensorSpec([2, None], tf.int32, 1), dense, AttributeError),
        (tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)), dense, AttributeError),
    ):
        with pytest.raises(problem):
            data_structure.to_tensor_list(spec, value)


def test_types_of_arrays_of_any_shape():
    unknown = data_structure.convert_legacy_structure(tf.int32, tf.TensorShape(None), tf.TensorArray)
    assert unknown == tf.TensorArraySpec(None, tf.int32, None, None)


def test_a_list_of_datasets_is_a_tensor_of_them():
    parts = [tf.data.Dataset.range(2), tf.data.Dataset.range(3)]
    both = tf.data.Dataset.from_tensors(parts)
    assert both.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64), [2])
    for each in (both.unbatch(), tf.data.Dataset.from_tensor_slices(parts)):
        following = tf.compat.v1.data.make_one_shot_iterator(each.flat_map(lambda part: part)).get_next()
        with tf.Session() as session:
            assert [session.run(following) for _ in range(5)] == [0, 1, 0, 1, 2]
    with pytest.raises(TypeError):
        tf.data.Dataset.from_tensors([parts[0], 5])
    with pytest.raises(ValueError):
        tf.data.Dataset.from_tensors([parts[0], parts[1].batch(2)])


def test_what_specs_are_made_of():
    number = tf.TensorSpec([], tf.int64)
    assert number._component_specs is number
    assert tf.OptionalSpec(number)._component_specs == [tf.TensorSpec([], tf.variant)]


def test_an_element_takes_as_many_tensors_as_it_has():
    spec = {"a": tf.TensorSpec([], tf.int64), "b": tf.TensorSpec([], tf.int64)}
    with pytest.raises(ValueError):
        data_structure.from_compatible_tensor_list(spec, [tf.constant(1)])
