"""Lists of tensors: what graphs with functional loops keep their TensorArrays in."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.ops.tensor_arrays import list_functions

R = tf.raw_ops

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def reserved(count=3, shape=(2,)):
    return R.TensorListReserve(element_shape=list(shape), num_elements=count, element_dtype=tf.float32)


def with_item(held, index, value):
    return R.TensorListSetItem(input_handle=held, index=index, item=tf.constant(value, tf.float32))


def stacked(held):
    return R.TensorListStack(input_handle=held, element_shape=[2], element_dtype=tf.float32)


def test_elements_that_were_not_set_are_zeros():
    np.testing.assert_array_equal(run(stacked(with_item(reserved(), 1, [1, 2]))), [[0, 0], [1, 2], [0, 0]])


def test_zeros_of_an_unknown_shape_cannot_be_read():
    item = R.TensorListGetItem(
        input_handle=reserved(shape=(-1,)), index=0, element_shape=[-1], element_dtype=tf.float32
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="not fully defined"):
        run(item)


@pytest.mark.parametrize("index", [3, -1])
def test_places_outside_of_a_list(index):
    with pytest.raises(tf.errors.InvalidArgumentError, match="with 3 elements"):
        run(stacked(with_item(reserved(), index, [1, 2])))


@pytest.mark.parametrize(("shape", "most", "words"), [([], 1, "full list"), ([3], -1, "incompatible shape")])
def test_what_cannot_be_pushed(shape, most, words):
    held = R.EmptyTensorList(
        element_shape=tf.constant(shape, tf.int32), max_num_elements=most, element_dtype=tf.float32
    )
    for _ in range(2):
        held = R.TensorListPushBack(input_handle=held, tensor=1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(R.TensorListLength(input_handle=held))


def test_resizing():
    held = with_item(reserved(), 0, [1, 1])
    np.testing.assert_array_equal(run(stacked(R.TensorListResize(input_handle=held, size=2))), [[1, 1], [0, 0]])
    assert run(R.TensorListLength(input_handle=R.TensorListResize(input_handle=held, size=7))) == 7


def test_scattering_and_gathering():
    held = R.TensorListScatterV2(tensor=[[1.0, 2.0], [3.0, 4.0]], indices=[2, 0], element_shape=[2], num_elements=4)
    np.testing.assert_array_equal(run(stacked(held)), [[3, 4], [0, 0], [1, 2], [0, 0]])
    rows = R.TensorListGather(input_handle=held, indices=[2, 2], element_shape=[2], element_dtype=tf.float32)
    np.testing.assert_array_equal(run(rows), [[1, 2], [1, 2]])
    wider = R.TensorListScatterIntoExistingList(input_handle=held, tensor=[[9.0, 9.0]], indices=[4])
    assert run(stacked(wider)).shape == (5, 2)


def test_splitting_and_concatenating():
    held = R.TensorListSplit(tensor=[[1.0], [2.0], [3.0]], element_shape=[-1, 1], lengths=[2, 1])
    joined = R.TensorListConcatV2(
        input_handle=held, element_shape=[-1, 1], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32
    )
    assert joined.tensor.shape.as_list() == [None, 1]
    values, lengths = run([joined.tensor, joined.lengths])
    np.testing.assert_array_equal(values, [[1], [2], [3]])
    np.testing.assert_array_equal(lengths, [2, 1])


def _gathered(x):
    held = R.TensorListFromTensor(tensor=x, element_shape=[2])
    return R.TensorListGather(input_handle=held, indices=[2, 0], element_shape=[2], element_dtype=tf.float32)


def _one(x):
    held = R.TensorListFromTensor(tensor=x, element_shape=[2])
    return R.TensorListGetItem(input_handle=held, index=1, element_shape=[2], element_dtype=tf.float32)


def _scattered(x):
    return stacked(R.TensorListScatterV2(tensor=x, indices=[2, 0, 4], element_shape=[2], num_elements=5))


def _set(x):
    return stacked(R.TensorListSetItem(input_handle=reserved(), index=1, item=x[0]))


def _split(x):
    held = R.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=[1, 2])
    return R.TensorListConcatV2(
        input_handle=held, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32
    ).tensor


@pytest.mark.parametrize(
    ("function", "rows"), [(_gathered, [0, 2]), (_one, [1]), (_scattered, [0, 1, 2]), (_set, [0]), (_split, [0, 1, 2])]
)
def test_gradients(function, rows):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = function(x)
    got, values = run([tf.gradients(tf.reduce_sum(y * y), x)[0], x])
    expected = np.zeros([3, 2])
    expected[rows] = 2 * values[rows]
    np.testing.assert_array_equal(got, expected)


def test_what_is_known_of_elements_follows_the_list():
    start = list_functions.empty_tensor_list([None, 2], tf.float32)
    longer = raw.TensorListPushBack(input_handle=tf.identity(start), tensor=tf.ones([3, 2]))
    assert list_functions.tensor_list_stack(longer, tf.float32).shape.as_list() == [None, None, 2]
    assert list_functions.tensor_list_pop_back(longer, tf.float32)[1].shape.as_list() == [None, 2]
    assert list_functions.tensor_list_get_item(longer, 0, tf.float32, [3, 2]).shape.as_list() == [3, 2]
    with pytest.raises(ValueError):
        list_functions.tensor_list_stack(longer, tf.int32)
    with pytest.raises(ValueError):
        raw.TensorListPushBack(input_handle=start, tensor=tf.ones([3, 2], tf.int32))
    with pytest.raises(ValueError):
        list_functions.tensor_list_from_tensor(tf.ones([2, 2]), [3])


def test_a_body_knows_the_elements_of_a_list_of_the_graph_around():
    shapes = []
    with tf.Graph().as_default():
        held = tf.raw_ops.EmptyTensorList(element_shape=[2, 3], max_num_elements=-1, element_dtype=tf.float32)

        @tf.function
        def last():
            _, value = tf.raw_ops.TensorListPopBack(input_handle=held, element_shape=-1, element_dtype=tf.float32)
            shapes.append(value.shape.as_list())
            return value

        last()
    assert shapes == [[2, 3]]
