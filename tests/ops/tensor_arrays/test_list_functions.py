"""Lists of tensors by the functions of list_ops. Expected values are TensorFlow's."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.ops.tensor_arrays import list_functions as lists

pytestmark = pytest.mark.usefixtures("own_graph")


def pushed(start, *values):
    for value in values:
        start = raw.TensorListPushBack(input_handle=start, tensor=tf.constant(value))
    return start


def empty(shape=None, **kwargs):
    return lists.empty_tensor_list(shape, tf.float32, **kwargs)


def run(fetch):
    with tf.Session() as session:
        return np.asarray(session.run(fetch)).tolist()


def stacked(handle, **kwargs):
    return lists.tensor_list_stack(handle, tf.float32, **kwargs)


@pytest.mark.parametrize("shape", [None, [-1], [2], [None], tf.TensorShape([2])], ids=str)
def test_shapes_of_elements_as_far_as_known(shape):
    assert run(stacked(pushed(empty(shape), [1.0, 2.0]))) == [[1, 2]]
    assert run(stacked(lists.tensor_list_from_tensor([[1.0, 2.0]], shape))) == [[1, 2]]


def test_a_number_is_no_shape_of_elements():
    with pytest.raises(TypeError, match="list of sizes"):
        lists.tensor_list_reserve(-1, 2, tf.float32)
    with pytest.raises(ValueError):
        lists.tensor_list_split([1.0, 2.0, 3.0], [], [1, 2])


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda: stacked(lists.tensor_list_reserve([2], 2, tf.float32)), [[0, 0], [0, 0]]),
        (lambda: stacked(lists.tensor_list_scatter([[1.0], [2.0]], [0, 2], [1])), [[1], [0], [2]]),
        (
            lambda: stacked(
                lists.tensor_list_scatter([[1.0]], [1], input_handle=lists.tensor_list_reserve([1], 2, tf.float32))
            ),
            [[0], [1]],
        ),
        (lambda: lists.tensor_list_gather(pushed(empty(), 1.0, 2.0), [1, 0, 1], tf.float32), [2, 1, 2]),
        (lambda: lists.tensor_list_concat(pushed(empty(), [1.0], [2.0, 3.0]), tf.float32), [1, 2, 3]),
        (lambda: lists.tensor_list_concat(empty([0, 1]), tf.float32), []),
        (lambda: stacked(lists.tensor_list_split([1.0, 2.0, 3.0, 4.0], [2], [2, 2])), [[1, 2], [3, 4]]),
        (lambda: stacked(lists.tensor_list_set_item(pushed(empty([]), 1.0), 2, 5.0, True)), [1, 0, 5]),
    ],
)
def test_values(build, value):
    assert run(build()) == value


@pytest.mark.parametrize(
    "build",
    [
        lambda: stacked(pushed(empty(max_num_elements=1), 1.0, 2.0)),
        lambda: stacked(lists.tensor_list_reserve(None, 2, tf.float32)),
        lambda: stacked(pushed(empty(), [1.0]), element_shape=[3]),
        lambda: lists.tensor_list_concat(empty([None, None]), tf.float32),
        lambda: stacked(lists.tensor_list_split([1.0, 2.0], None, [-1, 3])),
        lambda: lists.tensor_list_pop_back(empty([]), tf.float32)[1],
    ],
)
def test_what_can_not_be_run(build):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(build())


def test_rows_pushed_to_many_lists():
    longer = raw.TensorListPushBackBatch(input_handles=tf.stack([empty([]), empty([])]), tensor=[1.0, 2.0])
    assert run(stacked(longer[1])) == [2]


def test_parts_of_a_tensor_whose_first_size_is_open():
    rows = tf.constant([[1.0], [2.0], [3.0]])
    parts = lists.tensor_list_split(rows, [-1, 1], [1, 2])
    joined = lists.tensor_list_concat(parts, tf.float32)
    assert joined.shape.as_list() == [None, 1]
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(lists.tensor_list_get_item(parts, 1, tf.float32)), [[2], [3]])
        np.testing.assert_array_equal(sess.run(tf.gradients(joined, rows, 2 * rows)[0]), [[2], [4], [6]])
    for wrong, shape in ((rows, [1]), (tf.constant(1.0), [])):
        with pytest.raises(ValueError):
            lists.tensor_list_split(wrong, shape, [1, 2])


def test_joined_lists_are_of_one_type_and_keep_what_is_known_of_elements():
    floats, ints = (lists.tensor_list_from_tensor(values, []) for values in ([1.0, 2.0], [3, 4]))
    joined = raw.TensorListConcatLists(input_a=floats, input_b=floats, element_dtype=tf.float32)
    assert lists.tensor_list_stack(joined, tf.float32).shape.as_list() == [None]
    with pytest.raises(ValueError, match="elements of int32"):
        raw.TensorListConcatLists(input_a=floats, input_b=ints, element_dtype=tf.float32)
