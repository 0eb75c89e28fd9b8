"""What a plan hands to loops that are machine code, and gets back."""

import threading

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework.shapes import TensorShape
from everflow.kernels.tensor_arrays.tensor_array import Array, Stack
from everflow.runtime.plan.native.loop_calls import held_by
from everflow.runtime.plan.native.row_steps import Rows


def array_of(rows=None, *, size=3, dynamic=False, clears=True) -> Array:
    made = Array(tf.float32, size, dynamic, clears, TensorShape(None), True)
    if rows is not None:
        made.take_rows(torch.tensor(rows))
    return made


def words(is_stack: bool, is_written: bool) -> Rows:
    return Rows((None, 0), is_stack, is_written, tf.float32, (2,), 0, 1, 2, 3, 5, 4)


def test_an_array_is_read_without_a_copy():
    array = array_of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    held, block = held_by(words(False, False), array), [0] * 6
    assert held.fill_in(block, 32)
    assert block[0] == array.rows().data_ptr() and block[1] == 3 and not block[4]
    held.flags[:] = 1
    held.finish(block)
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        array.get(0)


@pytest.mark.parametrize("rows", [None, [[1.0], [2.0], [3.0]]], ids=["never written", "of another shape"])
def test_an_array_that_can_not_be_read(rows):
    assert not held_by(words(False, False), array_of(rows)).fill_in([0] * 6, 32)


def test_some_elements_of_an_array_are_written():
    array = array_of()
    held, block = held_by(words(False, True), array), [0] * 6
    assert held.fill_in(block, 32) and block[1] == 3
    held.tensor.copy_(torch.arange(6.0).reshape(3, 2))
    held.flags[1] = 1
    held.finish(block)
    assert array.elements[0] is None and array.get(1).tolist() == [2, 3] and array.elements[2] is None


def test_only_arrays_that_grow_have_more_room():
    block = [0] * 6
    assert held_by(words(False, True), array_of()).fill_in(block, 40) and block[1] == 3 and not block[5]
    assert held_by(words(False, True), array_of(dynamic=True)).fill_in(block, 40) and block[1] == 40 and block[5]


def test_an_array_that_was_written_before_is_left_to_the_plan():
    array = array_of()
    array.write(1, torch.zeros(2), tf.float32)
    assert not held_by(words(False, True), array).fill_in([0] * 6, 32)


def test_a_stack_is_filled_and_emptied():
    stack, block = Stack(tf.float32, -1), [0] * 6
    pushed = held_by(words(True, True), stack)
    assert pushed.fill_in(block, 8) and block[1] == 8 and block[5]
    pushed.tensor.copy_(torch.arange(16.0).reshape(8, 2))
    block[3] = 3
    pushed.finish(block)
    popped = held_by(words(True, False), stack)
    assert popped.fill_in(block, 8) and block[1] == block[3] == 3
    block[3] = 1
    popped.finish(block)
    assert [v.tolist() for v in stack.values] == [[0, 1]]


def test_a_stack_has_no_more_room_than_its_limit():
    block = [0] * 6
    pushed = held_by(words(True, True), Stack(tf.float32, 5))
    assert pushed.fill_in(block, 32) and block[1] == 5 and not block[5]


def test_several_threads_run_one_loop_at_once():
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    x = tf.placeholder(tf.float32, [64])
    y = tf.while_loop(lambda i, y: i < 50, lambda i, y: (i + 1, y + x), [0, tf.zeros([64])])[1]
    found = {}
    with tf.Session(config=config) as sess:
        sess.run(y, {x: np.zeros(64)})

        def run(number):
            found[number] = [sess.run(y, {x: np.full(64, number)})[0] for _ in range(20)]

        threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert found == {n: [50 * n] * 20 for n in range(4)}
