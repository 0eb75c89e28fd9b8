"""Ops that call functions: which branch is taken, loops over numbers, and gradients of functions."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.functions import is_true
from everflow.ops.functions.defun import Defun


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (torch.tensor(True), True),
        (torch.tensor(0), False),
        (torch.tensor(-0.5), True),
        (torch.zeros(0), False),
        (torch.zeros(2), True),
        (np.array(b"", object), False),
        (np.array(b"x", object), True),
        (np.array([], object), False),
    ],
)
def test_what_counts_as_true(condition, wanted):
    assert is_true(condition) is wanted


@Defun(tf.float32)
def double(x):
    return 2.0 * x


@Defun(tf.float32)
def square(x):
    return x * x


@pytest.mark.parametrize(("index", "wanted"), [(0, 6.0), (1, 9.0), (2, 9.0), (-1, 9.0)])
def test_an_index_without_a_branch_takes_the_last(sess, index, wanted):
    found = tf.raw_ops.Case(branch_index=index, input=[tf.constant(3.0)], Tout=[tf.float32], branches=[double, square])
    assert sess.run(found) == [wanted]


@pytest.mark.parametrize(("condition", "wanted"), [(5, 6.0), (0, 9.0), ("text", 6.0), ("", 9.0)])
def test_branches_by_other_things_than_bools(sess, condition, wanted):
    found = tf.raw_ops.If(
        cond=condition, input=[tf.constant(3.0)], Tout=[tf.float32], then_branch=double, else_branch=square
    )
    assert sess.run(found) == [wanted]


@pytest.mark.parametrize(("limits", "wanted"), [((0, 4, 1), 6.0), ((4, 0, -2), 6.0), ((3, 3, 1), 0.0)])
def test_loops_over_numbers(sess, limits, wanted):
    @Defun(tf.int32, tf.float32)
    def body(i, total):
        return total + tf.cast(i, tf.float32)

    start, limit, delta = limits
    found = tf.raw_ops.For(start=start, limit=limit, delta=delta, input=[tf.constant(0.0)], body=body)
    assert sess.run(found) == [wanted]


def test_a_loop_without_a_step(sess):
    @Defun(tf.int32, tf.float32)
    def body(i, total):
        return total

    step = tf.placeholder_with_default(0, [])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.For(start=0, limit=1, delta=step, input=[tf.constant(0.0)], body=body))


def test_gradients_of_functions(sess):
    x = tf.constant([1.0, -3.0])
    found = tf.raw_ops.SymbolicGradient(input=[x, tf.constant([10.0, 1.0])], Tout=[tf.float32], f=square)
    assert sess.run(found)[0].tolist() == [20.0, -6.0]


@pytest.mark.parametrize(
    ("dtype", "shape", "wanted"), [(tf.float32, [2, None], (2, 0)), (tf.string, [1], (1,)), (tf.int32, None, ())]
)
def test_stand_ins_for_what_a_branch_does_not_give(sess, dtype, shape, wanted):
    found = sess.run(tf.raw_ops.FakeParam(dtype=dtype, shape=tf.TensorShape(shape)))
    assert np.shape(found) == wanted


def test_a_function_of_each_row():
    @Defun(tf.float32, tf.float32)
    def scaled(row, added):
        return row * 2.0 + added, tf.reduce_sum(row)

    with tf.Graph().as_default(), tf.Session() as session:
        mapped = tf.raw_ops.MapDefun(
            arguments=[[[1.0, 2.0], [3.0, 4.0]]],
            captured_inputs=[10.0],
            f=scaled,
            output_types=[tf.float32, tf.float32],
            output_shapes=[[2], []],
        )
        assert [t.tolist() for t in session.run(mapped)] == [[[12.0, 14.0], [16.0, 18.0]], [3.0, 7.0]]
