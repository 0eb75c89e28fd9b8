"""What is known of the variable behind a handle, and gradients of reads."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.variables import handles

pytestmark = pytest.mark.usefixtures("own_graph")
R = tf.raw_ops


@pytest.fixture
def v():
    return tf.get_variable("v", [4, 2], use_resource=True, initializer=tf.ones_initializer())


def test_shapes_of_what_a_handle_refers_to(v):
    assert handles.handle_data(v.handle) == (tf.TensorShape([4, 2]), tf.float32)
    assert R.ReadVariableOp(resource=tf.identity(v.handle), dtype=tf.float32).shape.as_list() == [4, 2]
    assert R.VariableShape(input=v.handle).shape.as_list() == [2]
    anything = tf.placeholder(tf.resource)
    assert handles.handle_data(anything)[1] is None
    assert R.ReadVariableOp(resource=anything, dtype=tf.float32).shape.rank is None


def test_a_known_shape_is_a_constant(v):
    assert handles.variable_shape(v.handle).op.type == "Const"
    assert handles.variable_shape(v.handle, tf.int64).dtype == tf.int64
    assert handles.variable_shape(tf.identity(v.handle)).op.type == "VariableShape"


@pytest.mark.parametrize(
    "build",
    [
        lambda h: R.AssignVariableOp(resource=h, value=tf.ones([3])),
        lambda h: R.AssignAddVariableOp(resource=h, value=tf.ones([4, 3])),
        lambda h: R.ResourceScatterAdd(resource=h, indices=[0], updates=tf.ones([1, 3])),
        lambda h: R.ResourceScatterNdAdd(ref=h, indices=[[0, 0]], updates=[1.0, 2.0]),
    ],
)
def test_changes_that_do_not_fit(v, build):
    with pytest.raises(ValueError):
        build(v.handle)


def test_gradients_of_reads(v):
    rows = tf.gradients(tf.gather(v, [1, 1, 3]) * 2.0, v)[0]
    single = tf.gradients(tf.gather_nd(v, [[0, 1]]), v)[0]
    whole = tf.gradients(tf.gather_nd(v, [[2], [2]]), v)[0]
    assert isinstance(rows, tf.IndexedSlices) and isinstance(whole, tf.IndexedSlices)
    with tf.Session() as sess:
        sess.run(v.initializer)
        found = sess.run([tf.convert_to_tensor(rows), tf.convert_to_tensor(single), tf.convert_to_tensor(whole)])
        assert sess.run(tf.gradients(v * 3.0, v)[0]).tolist() == [[3, 3]] * 4
    np.testing.assert_array_equal(found[0][:, 0], [0, 4, 0, 2])
    np.testing.assert_array_equal(found[1], [[0, 1], [0, 0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(found[2][:, 0], [0, 0, 2, 0])


def test_ops_are_for_the_type_of_the_variable_behind_a_handle():
    with tf.Graph().as_default():
        handle = R.VarHandleOp(dtype=tf.int32, shape=[1], shared_name="x")
        assert R.ReadVariableOp(resource=handle, dtype=tf.int32).shape.as_list() == [1]
        with pytest.raises(ValueError, match="is of int32"):
            R.ReadVariableOp(resource=handle, dtype=tf.float32)
        with pytest.raises(ValueError, match="is of int32"):
            R.AssignVariableOp(resource=handle, value=tf.constant([1.0]))
