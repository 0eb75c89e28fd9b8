"""Arrays and stacks of one run: places that aren't there, reads that clear, and gradients that add up."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from tests.kernels.feeding import fed
from tests.kernels.old_graphs import old_graph


def array(size=3, **options):
    return tf.TensorArray(tf.float32, size, **{"infer_shape": False, **options})


@pytest.mark.parametrize("dtype", ["float32", "int64", "string", "bool"])
def test_stacked_and_apart(sess, dtype):
    rows = np.array([["a", "b"], ["c", "d"]]) if dtype == "string" else np.array([[1, 0], [1, 1]]).astype(dtype)
    made = tf.TensorArray(dtype, 2).unstack(fed(rows))
    found = sess.run([made.read(1), made.size()])
    wanted = rows.astype("S").astype(object) if dtype == "string" else rows
    np.testing.assert_array_equal(found[0], wanted[1])
    assert found[1] == 2
    again = tf.TensorArray(dtype, 2).unstack(fed(rows)).gather(fed([1, 0, 1][:2]))
    np.testing.assert_array_equal(sess.run(again), wanted[[1, 0]])


def test_parts_of_different_length(sess):
    made = array().split(fed(np.float32([1, 2, 3, 4])), fed(np.int32([1, 0, 3])))
    assert sess.run(made.concat()).tolist() == [1, 2, 3, 4]
    made = array().split(fed(np.float32([1, 2, 3, 4])), fed(np.int32([1, 0, 3])))
    assert sess.run(made.read(2)).tolist() == [2, 3, 4]


def test_what_was_not_written_is_zero_where_its_shape_is_known(sess):
    made = tf.TensorArray(tf.float32, 3, element_shape=[2]).write(1, [1.0, 2.0])
    assert sess.run(made.stack()).tolist() == [[0, 0], [1, 2], [0, 0]]


def test_an_array_grows_only_if_it_may(sess):
    assert sess.run(array(0, dynamic_size=True, element_shape=[]).write(3, 5.0).stack()).tolist() == [0, 0, 0, 5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="3"):
        sess.run(array().write(fed(3), 5.0).flow)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda a: a.write(fed(-1), 1.0).flow, None),
        (lambda a: a.read(fed(3)), None),
        (lambda a: a.read(0), None),
        (lambda a: a.write(0, fed(1.0)).write(0, fed(2.0)).flow, "already been written to"),
        (
            lambda a: a.write(0, fed([1.0])).write(1, fed([1.0, 2.0])).write(2, fed([1.0])).stack(),
            "inconsistent shapes",
        ),
        (lambda a: a.scatter(fed([0, 1]), fed([1.0])).flow, None),
        (lambda a: a.split(fed([1.0, 2.0]), fed([1, 0, 0])).flow, None),
        (lambda a: a.split(fed(1.0), fed([1, 0, 0])).flow, None),
    ],
)
def test_what_can_not_be(sess, use, message):
    found = use(array())
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


def test_a_read_clears_unless_told_otherwise(sess):
    made = array().write(0, fed(1.0))
    first = made.read(0)
    with tf.control_dependencies([first]):
        second = made.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(second)
    kept = array(clear_after_read=False).write(0, fed(1.0))
    assert sess.run([kept.read(0), kept.read(0)]) == [1.0, 1.0]


def test_gradients_of_two_reads_add_up(sess):
    x = fed(3.0)
    made = array(clear_after_read=False).write(0, x)
    assert sess.run(tf.gradients(made.read(0) * 2.0 + made.read(0) * 5.0, x)) == [7.0]


def test_nothing_stacks_to_nothing_where_shapes_are_known(sess):
    assert sess.run(tf.TensorArray(tf.float32, 0, element_shape=[2]).stack()).shape == (0, 2)
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(tf.TensorArray(tf.float32, fed(0)).stack())


def test_stacks_are_last_in_first_out(sess):
    handle = tf.raw_ops.StackV2(max_size=5, elem_type=tf.float32)
    pushed = []
    for value in (1.0, 2.0, 3.0):
        with tf.control_dependencies(pushed):
            pushed = [tf.raw_ops.StackPushV2(handle=handle, elem=fed(value))]
    with tf.control_dependencies(pushed):
        first = tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32)
    with tf.control_dependencies([first]):
        second = tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32)
    assert sess.run([first, second]) == [3.0, 2.0]


def test_stacks_have_an_end(sess):
    handle = tf.raw_ops.StackV2(max_size=1, elem_type=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Stack is empty"):
        sess.run(tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32))
    first = tf.raw_ops.StackPushV2(handle=handle, elem=fed(1.0))
    with tf.control_dependencies([first]):
        second = tf.raw_ops.StackPushV2(handle=handle, elem=fed(2.0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(second)


def test_arrays_of_the_first_graphs():
    with old_graph().as_default(), tf.Session() as sess:
        _run_arrays_of_the_first_graphs(sess)


def _run_arrays_of_the_first_graphs(sess):
    handle = raw.TensorArray(3, dtype=tf.float32)
    flow = raw.TensorArrayUnpack(handle, [[1.0], [2.0], [3.0]], 0.0)
    assert sess.run(raw.TensorArrayPack(handle, flow, dtype=tf.float32)).tolist() == [[1.0], [2.0], [3.0]]
    handle = raw.TensorArray(2, dtype=tf.float32)
    flow = raw.TensorArrayWrite(handle, 1, [5.0], raw.TensorArrayWrite(handle, 0, [4.0], 0.0))
    found = [raw.TensorArraySize(handle, flow), raw.TensorArrayGather(handle, [1, 0], flow, dtype=tf.float32)]
    size, rows = sess.run(found)
    assert size == 2 and rows.tolist() == [[5.0], [4.0]]
