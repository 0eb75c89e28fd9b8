"""Handles of the old form, fetched: two strings, where the object lives and its name."""

import pytest

import everflow as tf
from everflow.framework import raw_ops

MADE = {
    "queue": lambda: raw_ops.FIFOQueue(component_types=[tf.float32], shared_name="it"),
    "accumulator": lambda: raw_ops.ConditionalAccumulator(dtype=tf.float32, shape=(), shared_name="it"),
    "table": lambda: raw_ops.HashTable(key_dtype=tf.string, value_dtype=tf.int64, shared_name="it"),
    "barrier": lambda: raw_ops.Barrier(component_types=[tf.float32], shapes=[()], shared_name="it"),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_handle_is_a_container_and_a_name(sess, kind):
    assert sess.run(MADE[kind]()).tolist() == [b"localhost", b"it"]


def test_stacks_of_one_name_are_two(sess):
    first, second = (raw_ops.Stack(elem_type=tf.float32, stack_name="it") for _ in range(2))
    one, other = sess.run([first, second])
    assert one[0] == b"_stacks" and one[1] != other[1]
