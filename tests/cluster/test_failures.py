"""When things go wrong on other tasks: they are told as what they are, and nobody waits for ever."""

import threading
import time

import pytest

import everflow as tf
from everflow.protos import worker_pb2

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


def test_an_error_on_another_task_ends_the_run_on_all(cluster):
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.device(PS):
        bad = tf.reshape(x, [7], name="bad")
    with tf.device(WORKER):
        waits = bad + 1.0
    tasks = cluster(ps=1, worker=1)
    with tf.Session(tasks.target("worker")) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="From /job:ps/replica:0/task:0") as caught:
            sess.run(waits, {x: [1.0]})
        assert caught.value.op is bad.op
        assert sess.run(waits, {x: [1.0] * 7}).shape == (7,)


def test_an_uninitialized_variable_elsewhere(cluster):
    with tf.device(PS):
        v = tf.get_variable("v", initializer=1.0)
    with tf.device(WORKER):
        y = v * 2.0
    with tf.Session(cluster(ps=1, worker=1).target("worker")) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v"):
            sess.run(y)
        sess.run(v.initializer)
        assert sess.run(y) == 2.0


def test_a_time_limit_over_tasks(cluster):
    with tf.device(PS):
        taken = tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()
    with tf.device(WORKER):
        y = taken + 1.0
    with tf.Session(cluster(ps=1, worker=1).target("worker")) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(y, options=tf.RunOptions(timeout_in_ms=200))


def test_closing_a_session_cancels_what_waits_on_another_task(cluster):
    with tf.device(PS):
        taken = tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()
    with tf.device(WORKER):
        y = taken + 1.0
    sess = tf.Session(cluster(ps=1, worker=1).target("worker"))
    caught = []

    def wait():
        try:
            sess.run(y)
        except tf.errors.OpError as e:
            caught.append(type(e))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.3)
    sess.close()
    waiting.join(10)
    assert caught == [tf.errors.CancelledError]


def test_a_task_that_has_ended_is_unavailable(cluster):
    tasks = cluster(ps=1, worker=1)
    with tf.device(PS):
        v = tf.get_variable("v", initializer=1.0)
    with tf.device(WORKER):
        y = v + 1.0
    sess = tf.Session(tasks.target("worker"))
    sess.run(v.initializer)
    assert sess.run(y) == 2.0
    tasks.stop("ps", 0)
    with pytest.raises(tf.errors.UnavailableError, match="/job:ps/replica:0/task:0"):
        sess.run(y)
    sess.close()


def test_a_master_that_has_ended_is_unavailable(cluster):
    tasks = cluster(worker=1)
    sess = tf.Session(tasks.target("worker"))
    one = tf.constant(1)
    assert sess.run(one) == 1
    tasks.stop("worker", 0)
    with pytest.raises(tf.errors.UnavailableError):
        sess.run(one)
    sess.close()


def test_a_task_that_was_restarted_has_forgotten(cluster):
    tasks = cluster(ps=1, worker=1)
    with tf.device(PS):
        v = tf.get_variable("v", initializer=1.0)
    sess = tf.Session(tasks.target("worker"))
    sess.run(v.initializer)
    tasks.stop("ps", 0)
    tasks.servers["ps", 0] = tf.train.Server(tasks.spec, "ps", 0)
    deadline = time.monotonic() + 20
    while True:  # until the connection is up again
        with pytest.raises((tf.errors.AbortedError, tf.errors.UnavailableError)) as caught:
            sess.run(v)
        if isinstance(caught.value, tf.errors.AbortedError) or time.monotonic() > deadline:
            break
    assert isinstance(caught.value, tf.errors.AbortedError)
    sess.close()
    with tf.Session(tasks.target("worker")) as new, pytest.raises(tf.errors.FailedPreconditionError):
        new.run(v)


def test_two_servers_cannot_have_one_port(cluster):
    tasks = cluster(worker=1)
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server(tasks.spec)


def test_calls_that_make_no_sense_are_refused(cluster):
    from everflow.cluster.wire import Peer

    tasks = cluster(worker=1)
    peer = Peer(tasks.spec.task_address("worker", 0))
    with pytest.raises(tf.errors.AbortedError):
        peer.call("RunGraph", worker_pb2.RunGraphRequest(session_handle="none", graph_handle="none"))
    peer.call("CreateWorkerSession", worker_pb2.CreateWorkerSessionRequest(session_handle="mine"))
    request = worker_pb2.RegisterGraphRequest(session_handle="mine")
    request.graph_def.node.add(name="__import__('os')", op="NoOp")
    with pytest.raises(tf.errors.InvalidArgumentError, match="can't be read"):
        peer.call("RegisterGraph", request)
    with pytest.raises(tf.errors.OpError):
        peer.call("RecvTensor", worker_pb2.RecvTensorRequest(step_id=1, rendezvous_key="nonsense"))
    peer.close()
