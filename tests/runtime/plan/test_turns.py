"""Whose turn it is where the edges of a graph leave that open."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.prune import prune
from everflow.runtime.plan.tokens import Flow, Layout
from everflow.runtime.plan.turns import Turns, passes, shows


def test_what_puts_and_what_takes_meet():
    queue = tf.FIFOQueue(1, [tf.int32])
    config = tf.ConfigProto(operation_timeout_in_ms=20000)
    config.experimental.executor_type = "REFERENCE"
    puts = [queue.enqueue([i]) for i in range(3)]
    with tf.Session(config=config) as sess:
        taken = sess.run([queue.dequeue() for _ in range(3)] + puts)[:3]
    assert sorted(taken) == [0, 1, 2]


def test_uses_come_before_writes_that_no_edge_orders():
    config = tf.ConfigProto()
    config.experimental.executor_type = "REFERENCE"
    v = tf.Variable(1.0)
    written = tf.assign_add(v, 10.0)
    late = v * 2.0  # made after the write
    with tf.Session(config=config) as sess:
        sess.run(v.initializer)
        assert sess.run([written, late]) == [11.0, 2.0]


def turns_of(fetches, **options):
    layout = Layout(prune(fetches, []))
    return {node.name: node for node in layout.nodes}, Turns(layout, **options)


def test_creation_order_counts_where_edges_leave_it_open():
    a, b = tf.random_uniform([], name="a"), tf.random_uniform([], name="b")
    nodes, turns = turns_of([b, a])
    places = sorted(nodes, key=lambda name: turns.place(nodes[name]))
    assert places.index("a") < places.index("b")


def test_what_waits_for_a_queue_comes_last_where_something_is_put_into_one():
    queue = tf.FIFOQueue(5, tf.int32)
    take, put = queue.dequeue(name="take"), queue.enqueue(1, name="put")
    late = tf.constant(1, name="late")
    nodes, turns = turns_of([take, put, late])
    assert turns.place(nodes["take"]) > turns.place(nodes["late"])
    assert turns.concurrent[nodes["take"]] == turns.concurrent[nodes["put"]] == {nodes["take"], nodes["put"]}
    nodes, turns = turns_of([take, late])
    assert turns.place(nodes["take"]) < turns.place(nodes["late"]) and not turns.concurrent


def test_those_that_an_edge_orders_do_not_meet():
    queue = tf.FIFOQueue(5, [tf.int32], [[]])
    take = queue.dequeue(name="take")
    nodes, turns = turns_of([queue.enqueue(take + 1, name="put")])
    assert not turns.concurrent


def test_who_is_given_a_variables_memory_is_known_and_only_if_it_is_written():
    v = raw.VariableV2(shape=[2], dtype=tf.float32, name="v")
    read = raw.Identity(input=v, name="read")
    use = raw.Neg(x=read, name="use")
    nodes, turns = turns_of([use])
    assert not turns.exposed
    nodes, turns = turns_of([use, raw.AssignAdd(ref=v, value=tf.ones([2]), name="write").op])
    assert {"read", "use"} <= {node.name for node in turns.exposed}


@pytest.mark.parametrize("as_created", [False, True])
def test_a_write_waits_for_uses_unless_the_order_was_chosen_before(as_created):
    v = raw.VariableV2(shape=[], dtype=tf.float32, name="v")
    write = raw.AssignAdd(ref=v, value=tf.constant(1.0), name="write")
    use = raw.Neg(x=v, name="use")
    nodes, turns = turns_of([write, use], as_created=as_created)
    flow = Flow(Layout(prune([write, use], [])), lambda node: 0, lambda: None)
    iteration = flow.take()[0]
    assert turns.must_wait(iteration, nodes["write"]) is not as_created
    iteration.done.add(nodes["use"])
    assert not turns.must_wait(iteration, nodes["write"])


def test_sections_of_one_lock_follow_each_other():
    mutex = raw.MutexV2()
    locks = [raw.MutexLock(mutex=mutex, name=f"lock{i}") for i in range(2)]
    ends = [raw.ConsumeMutexLock(mutex_lock=lock, name=f"end{i}") for i, lock in enumerate(locks)]
    with tf.Session() as sess:
        sess.run(ends, options=tf.RunOptions(timeout_in_ms=20_000))
    config = tf.ConfigProto(operation_timeout_in_ms=20_000)
    config.experimental.executor_type = "REFERENCE"
    with tf.Session(config=config) as sess:
        sess.run(ends)


def test_nodes_that_compute_nothing_and_those_that_show_memory():
    x = tf.placeholder_with_default([1.0, 2.0], [2])
    built = {
        "identity": raw.Identity(input=x),
        "reshape": raw.Reshape(tensor=x, shape=tf.constant([1, 2])),
        "rows": raw.StridedSlice(input=x, begin=[0], end=[1], strides=[1]),
        "every other": raw.StridedSlice(input=x, begin=[0], end=[2], strides=[2]),
        "element": raw.StridedSlice(input=x, begin=[0], end=[1], strides=[1], shrink_axis_mask=1),
        "negative": raw.Neg(x=x),
    }
    nodes = {case: prune([tensor], []).nodes[-1] for case, tensor in built.items()}
    assert {case for case, node in nodes.items() if passes(node)} == {"identity"}
    assert {case for case, node in nodes.items() if shows(node)} == {"identity", "reshape", "rows"}
