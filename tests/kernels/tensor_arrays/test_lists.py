"""Lists of tensors: each stays as it is, whatever is made from it."""

import random

import pytest

import everflow as tf
from everflow.eager.graph import EagerGraph
from everflow.framework import raw_ops as raw
from everflow.kernels.tensor_arrays.lists import TensorList


def test_versions_stay_as_they_are():
    chance = random.Random(1)
    made = [(TensorList([0, 1, 2]), [0, 1, 2])]
    for step in range(300):
        held, items = chance.choice(made[-6:] if chance.random() < 0.8 else made)
        start = chance.randrange(len(items) + 1)
        end = start + 1 if start < len(items) and chance.random() < 0.5 else len(items)
        new = [f"{step}.{k}" for k in range(1 if end < len(items) else chance.randrange(3))]
        made.append((held.replaced(start, end, new), items[:start] + new + items[end:]))
        for other, expected in chance.sample(made, min(len(made), 5)):
            assert other.length == len(expected)
            if chance.random() < 0.5:
                assert other.items() == expected
            elif expected:
                index = chance.randrange(len(expected))
                assert other[index] == expected[index]
    for held, items in made:
        assert list(held) == items


def test_two_lists_from_one():
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.raw_ops.TensorListFromTensor(tensor=[1.0, 2.0, 3.0], element_shape=tf.constant([], tf.int32))
        lists = [
            tf.raw_ops.TensorListSetItem(input_handle=first, index=0, item=7.0),
            tf.raw_ops.TensorListSetItem(input_handle=first, index=1, item=8.0),
            tf.raw_ops.TensorListPushBack(input_handle=first, tensor=9.0),
            tf.raw_ops.TensorListPopBack(input_handle=first, element_shape=-1, element_dtype=tf.float32).output_handle,
            tf.raw_ops.TensorListResize(input_handle=first, size=5),
            first,
        ]
        stacked = [
            tf.raw_ops.TensorListStack(input_handle=one, element_shape=-1, element_dtype=tf.float32) for one in lists
        ]
        found = [values.tolist() for values in session.run(stacked)]
    assert found == [[7, 2, 3], [1, 8, 3], [1, 2, 3, 9], [1, 2], [1, 2, 3, 0, 0], [1, 2, 3]]


def test_errors():
    with tf.Graph().as_default(), tf.Session() as session:
        empty = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=1, element_dtype=tf.float32)
        full = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=1.0)
        for wrong in (
            tf.raw_ops.TensorListPopBack(input_handle=empty, element_shape=-1, element_dtype=tf.float32).tensor,
            tf.raw_ops.TensorListLength(input_handle=tf.raw_ops.TensorListPushBack(input_handle=full, tensor=2.0)),
            tf.raw_ops.TensorListGetItem(input_handle=full, index=1, element_shape=-1, element_dtype=tf.float32),
            tf.raw_ops.TensorListLength(
                input_handle=tf.raw_ops.TensorListSetItem(input_handle=full, index=1, item=2.0)
            ),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(wrong)


def test_a_gather_knows_a_blank_element_by_its_fellows_only():
    with tf.Graph().as_default(), tf.Session() as sess:
        blank = raw.TensorListReserve(element_shape=-1, num_elements=2, element_dtype=tf.float32)
        held = raw.TensorListPushBack(input_handle=blank, tensor=[1.0, 2.0])

        def gather(indices):
            return sess.run(
                raw.TensorListGather(input_handle=held, indices=indices, element_shape=-1, element_dtype=tf.float32)
            ).tolist()

        assert gather([0, 2]) == [[0.0, 0.0], [1.0, 2.0]]
        with pytest.raises(tf.errors.InvalidArgumentError):
            gather([0, 1])


def test_elements_are_taken_as_what_they_are():
    numbers = lambda: tf.raw_ops.TensorListFromTensor(tensor=[1.0, 2.0], element_shape=tf.constant([], tf.int32))  # noqa: E731
    whole = lambda: tf.raw_ops.TensorListFromTensor(tensor=[1, 2], element_shape=tf.constant([], tf.int32))  # noqa: E731
    wrong = [
        lambda: tf.raw_ops.TensorListConcatLists(input_a=numbers(), input_b=whole(), element_dtype=tf.float32),
        lambda: tf.raw_ops.TensorListPushBack(input_handle=numbers(), tensor=1),
        lambda: tf.raw_ops.TensorListPopBack(input_handle=numbers(), element_shape=[2], element_dtype=tf.float32),
        lambda: tf.raw_ops.TensorListFromTensor(tensor=1.0, element_shape=-1),
        lambda: tf.raw_ops.TensorListSplit(tensor=[1.0, 2.0], element_shape=[1], lengths=[2]),
        lambda: tf.raw_ops.TensorListSplit(tensor=[1.0, 2.0], element_shape=-1, lengths=[[2]]),
        lambda: tf.raw_ops.TensorListConcatLists(
            input_a=numbers(), input_b=tf.stack([numbers(), numbers()]), element_dtype=tf.float32
        ),
    ]
    with EagerGraph().as_default():
        for ask in wrong:
            with pytest.raises(tf.errors.InvalidArgumentError):
                ask()


def test_lists_of_lists():
    with tf.Graph().as_default(), tf.Session() as session:
        inner = tf.raw_ops.TensorListFromTensor(tensor=[1.0, 2.0], element_shape=tf.constant([], tf.int32))
        first, _ = tf.unstack(tf.stack([inner, inner]))
        stack = lambda handle: tf.raw_ops.TensorListStack(  # noqa: E731
            input_handle=handle, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32
        )
        assert session.run(stack(first)).tolist() == [1, 2]
        outer = tf.raw_ops.EmptyTensorList(
            element_shape=tf.constant([], tf.int32), max_num_elements=-1, element_dtype=tf.variant
        )
        outer = tf.raw_ops.TensorListPushBack(input_handle=outer, tensor=inner)
        doubled = tf.raw_ops.TensorListPopBack(
            input_handle=tf.add_n([outer, outer]), element_shape=-1, element_dtype=tf.variant
        )
        assert session.run(stack(doubled.tensor)).tolist() == [2, 4]
