"""The order of uses and writes of variables, and when a read must be a copy."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def ref_variable(value):
    value = tf.constant(value)
    ref = raw.VariableV2(shape=value.shape, dtype=value.dtype)
    return ref, raw.Assign(ref=ref, value=value)


def resource_variable(value):
    value = tf.constant(value)
    handle = raw.VarHandleOp(dtype=value.dtype, shape=value.shape)
    return handle, raw.AssignVariableOp(resource=handle, value=value)


def test_unordered_uses_of_a_ref_variable_run_before_the_write():
    v, init = ref_variable([1.0, 2.0])
    add = raw.AssignAdd(ref=v, value=tf.constant([10.0, 10.0]))
    read = raw.Identity(input=v)
    tripled = raw.Mul(x=read, y=tf.constant(3.0))
    with tf.Session() as sess:
        sess.run(init)
        got = sess.run([add, v, read, tripled])
        # The buffer itself shows the new value; what was computed from it shows the old one.
        np.testing.assert_array_equal(got, [[11, 12], [11, 12], [11, 12], [3, 6]])


def test_a_control_dependency_puts_a_use_after_the_write():
    v, init = ref_variable([1.0])
    read = raw.Identity(input=v)
    with tf.control_dependencies([raw.AssignAdd(ref=v, value=tf.constant([10.0])).op]):
        after = raw.Mul(x=read, y=tf.constant(2.0))
    with tf.Session() as sess:
        sess.run(init)
        assert sess.run(after)[0] == 22.0


def test_two_writes_in_creation_order_and_chains():
    v, init = ref_variable(1.0)
    one = raw.AssignAdd(ref=v, value=tf.constant(1.0))
    two = raw.Assign(ref=v, value=raw.Mul(x=one, y=tf.constant(5.0)))
    with tf.Session() as sess:
        sess.run(init)
        assert sess.run([two, one]) == [10.0, 10.0]


def test_crossing_demands_give_way_instead_of_hanging():
    a, init_a = ref_variable(1.0)
    b, init_b = ref_variable(2.0)
    write_a = raw.AssignAdd(ref=a, value=tf.constant(10.0))
    write_b = raw.AssignAdd(ref=b, value=tf.constant(10.0))
    with tf.control_dependencies([write_a.op]):
        use_b = raw.Mul(x=b, y=tf.constant(1.5))
    with tf.control_dependencies([write_b.op]):
        use_a = raw.Mul(x=a, y=tf.constant(1.5))
    with tf.Session() as sess:
        sess.run([init_a.op, init_b.op])
        assert sess.run([use_a, use_b]) == [16.5, 3.0]


def test_a_resource_read_is_a_snapshot():
    r, init = resource_variable([1.0])
    before = raw.ReadVariableOp(resource=r, dtype=tf.float32)
    with tf.control_dependencies([before.op]):
        add = raw.AssignAddVariableOp(resource=r, value=tf.constant([5.0]))
    with tf.control_dependencies([add]):
        kept = raw.Identity(input=before)
        after = raw.ReadVariableOp(resource=r, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(init)
        assert [x[0] for x in sess.run([before, kept, after])] == [1, 1, 6]


def copies(fetches):
    with tf.Session() as sess:
        elements = list(fetches)
        return sess._executor.compile(elements, []).copies


def test_reads_are_copied_only_where_a_write_comes_before_their_last_use():
    r, _ = resource_variable([1.0])
    read = raw.ReadVariableOp(resource=r, dtype=tf.float32)
    doubled = raw.Mul(x=read, y=tf.constant(2.0))
    add = raw.AssignAddVariableOp(resource=r, value=doubled)
    assert copies([doubled]) == 0
    assert copies([add]) == 0
    assert copies([doubled, add]) == 0
    assert copies([read, add]) == 1


@pytest.mark.parametrize("fetch", ["value", "op"])
def test_uninitialized_variables(fetch):
    v, _ = ref_variable([1.0])
    total = raw.AddV2(x=v, y=v)
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value VariableV2"),
    ):
        sess.run(total if fetch == "value" else total.op)


def test_random_streams_and_resources():
    from everflow.runtime.state import ResourceStore, SessionState

    store = ResourceStore()
    made = store.lookup_or_create("", "queue", "q", list)
    assert store.lookup("localhost", "queue", "q") is made and store.lookup("other", "queue", "q") is None
    assert store.remove(made) and not store.remove(made)
    store.lookup_or_create("box", "queue", "q", list)
    store.clear_container("box")
    assert store.lookup("box", "queue", "q") is None
    state = SessionState()
    assert state.random.stream("node", list) is state.random.stream("node", list)
    state.close()
    assert state.closed.is_set()
