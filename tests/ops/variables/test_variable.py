"""Variables of both kinds: nodes, values, changes, refusals, protos."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize("use_resource, read_error, change_error", [
    (False, tf.errors.FailedPreconditionError, tf.errors.FailedPreconditionError),
    (True, tf.errors.FailedPreconditionError, tf.errors.NotFoundError),
])  # fmt: skip
def test_uninitialized(use_resource, read_error, change_error):
    v = tf.Variable(1.0, use_resource=use_resource, name="v")
    with tf.Session() as sess:
        assert not sess.run(tf.is_variable_initialized(v))
        with pytest.raises(read_error):
            sess.run(v)
        with pytest.raises(change_error):
            sess.run(v.assign_add(1.0))
        assert sess.run(tf.report_uninitialized_variables()).tolist() == [b"v"]


def test_protos_round_trip():
    for kind in (False, True):
        v = tf.Variable([1.0], name="v", use_resource=kind)
        again = tf.Variable.from_proto(v.to_proto())
        assert type(again) is type(v)
        assert (again.name, again.op, again.initializer, again.trainable) == (v.name, v.op, v.initializer, True)


def test_refusals():
    with pytest.raises(ValueError, match="initial_value must be specified"):
        tf.Variable()
    with pytest.raises(ValueError, match="must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="must be a list, tuple, or set"):
        tf.Variable(1.0, collections="c")
    with pytest.raises(TypeError, match="not iterable"):
        iter(tf.Variable(1.0))
    with pytest.raises(RuntimeError, match="assign_add"):
        v = tf.Variable(1.0, use_resource=True)
        v += 1.0


def test_creators_stand_before_the_default_one():
    made = []

    def creator(next_creator, **kwargs):
        made.append(kwargs["name"])
        return next_creator(**{**kwargs, "use_resource": True})

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
        w = tf.get_variable("w", [1])
    assert made == ["v", "w"]
    assert v.op.type == w.op.type == "VarHandleOp"


def test_string_and_bool_variables():
    s = tf.Variable(["a", "b"])
    b = tf.Variable([True, False])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(tf.scatter_update(s, [1], ["c"])).tolist() == [b"a", b"c"]
        assert sess.run(tf.scatter_nd_update(b, [[1]], [True])).tolist() == [True, True]


def test_numpy_arrays_leave_operators_to_the_variable():
    v = tf.Variable([1.0, 2.0])
    assert isinstance(np.ones(2, np.float32) * v, tf.Tensor)


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [b"a", b"b"]])
def test_positions_without_an_axis_gather_all_of_a_variable(values):
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.get_variable("v", initializer=tf.constant(values), use_resource=True)
        sess.run(variable.initializer)
        for shape in ([0], [2, 0], [3, 2, 0]):
            positions = np.zeros(shape, np.int32)
            gathered = tf.raw_ops.ResourceGatherNd(
                resource=variable.handle, indices=positions, dtype=variable.dtype.base_dtype
            )
            np.testing.assert_array_equal(
                sess.run(gathered), np.broadcast_to(np.array(values, object), (*shape[:-1], len(values)))
            )
