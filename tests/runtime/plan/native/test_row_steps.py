"""TensorArrays and stacks in loops."""

import pytest

import everflow as tf
from tests.runtime.plan.native.compared import check, session


def test_arrays_that_grow_and_are_written_backwards():
    def body(i, grown, turned):
        return i + 1, grown.write(i, tf.fill([2], i)), turned.write(39 - i, i * i)

    arrays = [tf.TensorArray(tf.int32, 0, dynamic_size=True), tf.TensorArray(tf.int32, 40)]
    _, grown, turned = tf.while_loop(lambda i, *_: i < 40, body, [0, *arrays])
    check([grown.stack(), turned.stack(), grown.size()], 1)


def test_an_array_of_which_only_some_is_written():
    array = tf.TensorArray(tf.float32, 5, element_shape=[])
    array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i + 1, 2.5)), [0, array])[1]
    check(array.stack(), 1)


@pytest.mark.parametrize(
    "body, words",
    [
        (lambda i, a: (i + 1, a.write(i + 4, 1.0)), "size 5"),
        (lambda i, a: (i + 1, a.write(i - 1, 1.0)), "negative"),
        (lambda i, a: (i + 1, a.write(0, 1.0)), "already been written"),
    ],
)
def test_bad_indices_are_told_as_the_plan_tells_them(body, words):
    array = tf.while_loop(lambda i, a: i < 4, body, [0, tf.TensorArray(tf.float32, 5)])[1]
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        sess.run(array.flow)


def test_an_element_that_is_read_twice():
    array = tf.TensorArray(tf.float32, 3).unstack(tf.constant([1.0, 2.0, 3.0]))
    total = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + array.read(i // 2)), [0, 0.0])[1]
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        sess.run(total)


def test_a_bad_index_beside_stacks_that_could_grow():
    """More room would not help: it is refused at once, and told."""
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    array = tf.TensorArray(tf.float32, 3)
    _, array, x = tf.while_loop(
        lambda i, *_: i < 5, lambda i, a, x: (i + 1, a.write(i, tf.sin(x)), tf.sin(x) * v), [0, array, v * 1.0]
    )
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="size 3"):
        sess.run(v.initializer)
        sess.run([array.flow, tf.gradients(x, v)])


def test_a_stack_that_is_pushed_on_twice_in_a_round():
    stack = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32, stack_name="")

    def body(i, x):
        with tf.control_dependencies([tf.raw_ops.StackPushV2(handle=stack, elem=x * 2.0)]):
            second = tf.raw_ops.StackPushV2(handle=stack, elem=x * 3.0)
        with tf.control_dependencies([second]):
            return i + 1, x + 1.0

    i, x = tf.while_loop(lambda i, x: i < 3, body, [0, tf.constant([1.0, 2.0])])
    with tf.control_dependencies([i, x]):
        pops = []
        for _ in range(6):
            with tf.control_dependencies(pops):
                pops.append(tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.float32))
    check(pops, 1)
