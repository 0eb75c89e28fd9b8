"""Ops that only order others."""

import pytest

import everflow as tf
from everflow.ops.control_flow.grouping import with_dependencies

pytestmark = pytest.mark.usefixtures("own_graph")


def test_a_group_runs_all_of_its_members(sess):
    a, b = tf.Variable(0), tf.Variable(0)
    sess.run(tf.global_variables_initializer())
    assert sess.run(tf.group(a.assign_add(1), [b.assign_add(2)], {"c": tf.no_op()})) is None
    assert sess.run([a, b]) == [1, 2]


def test_members_on_different_devices_are_grouped_there_first():
    with tf.device("/cpu:0"):
        a = tf.constant(1)
    with tf.device("/cpu:1"):
        b, c = tf.constant(2), tf.constant(3)
    whole = tf.group(a, b, c, name="all")
    parts = whole.control_inputs
    assert whole.name == "all" and not whole.device
    assert [(p.device, list(p.control_inputs)) for p in parts] == [
        ("/device:CPU:0", [a.op]), ("/device:CPU:1", [b.op, c.op])
    ]  # fmt: skip


def test_a_group_of_nothing_is_a_no_op():
    assert tf.group().type == "NoOp" and not tf.group([]).control_inputs


def test_composites_are_grouped_with_all_their_parts():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert tf.group(slices).control_inputs == [slices.values.op, slices.indices.op]
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    assert tf.group(sparse).control_inputs == [t.op for t in (sparse.indices, sparse.values, sparse.dense_shape)]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.group(3), TypeError),
        (lambda: tf.group(tf.no_op(), wrong=1), ValueError),
        (lambda: tf.tuple([]), ValueError),
        (lambda: tf.tuple([None]), ValueError),
        (lambda: tf.tuple([tf.constant(1)], control_inputs=[1]), TypeError),
    ],
)
def test_what_cannot_be_grouped(build, error):
    with pytest.raises(error):
        build()


def test_a_tuple_gives_each_after_all(sess):
    v = tf.Variable(0)
    sess.run(v.initializer)
    a, nothing, done = tf.tuple([tf.constant(5), None, tf.no_op()], control_inputs=[v.assign_add(1)])
    assert nothing is None and isinstance(done, tf.Operation)
    assert sess.run(a) == 5 and sess.run(v) == 1


def test_slices_of_a_tuple_keep_their_indices():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([4]))
    [made] = tf.tuple([slices])
    assert isinstance(made, tf.IndexedSlices) and made.indices is slices.indices
    assert made.values.op.control_inputs


def test_an_output_after_dependencies(sess):
    v = tf.Variable(1)
    sess.run(v.initializer)
    x = tf.constant(3, name="x")
    made = with_dependencies([v.assign(7)], x)
    assert made.op.type == "Identity" and made.op.colocation_groups() == x.op.colocation_groups()
    assert sess.run(made) == 3 and sess.run(v) == 7
    assert with_dependencies([tf.no_op()], v._ref()).op.type == "RefIdentity"
