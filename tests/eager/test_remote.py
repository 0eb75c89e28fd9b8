"""Eager operations on other tasks of a cluster: where they run, what stays there, and what comes back."""

import gc
import time

import numpy as np
import pytest

import everflow as tf
from everflow.cli.launch import free_addresses
from everflow.config import connecting
from tests.cluster.conftest import Cluster

A, B = (f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2))
HERE = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture(scope="module")
def workers():
    made = Cluster(worker=2)
    yield made
    made.close()


@pytest.fixture
def connected(workers):
    tf.config.experimental_connect_to_cluster(workers.spec)
    yield workers
    connecting.disconnect()


def _held(cluster, index=0):
    """How many values a task holds for its clients."""
    contexts = cluster.servers["worker", index]._worker.eager._contexts
    return sum(len(context._values) for context in contexts.values())


def test_operations_run_where_tf_device_says(connected):
    with tf.device("/job:worker/task:0"):
        a = tf.range(4)
    with tf.device("/job:worker"), tf.device("/task:1/cpu:0"):
        b = a * 2
        c = tf.constant([1, 1, 1, 1])
    d = b + c
    assert (a.device, b.device, c.device, d.device) == (A, B, B, HERE)
    assert isinstance(a, tf.Tensor) and a.shape == [4] and a.dtype == tf.int32
    np.testing.assert_array_equal(d.numpy(), [1, 3, 5, 7])
    assert "numpy=array([0, 1, 2, 3], dtype=int32)" in repr(a)
    assert int(b[1]) == 2 and a.cpu().device == HERE


@pytest.mark.parametrize(
    "value",
    [
        np.zeros([0, 3], np.float64), np.array([True, False]), np.array([b"a", b""], object), np.complex64(1 + 2j), np.float16(0.5),
        np.arange(6, dtype=np.uint8).reshape(2, 3).T, np.int64(-1),
    ],
    ids=str,
)  # fmt: skip
def test_values_come_back_as_they_went(connected, value):
    with tf.device(A):
        there = tf.identity(tf.constant(value))
    with tf.device(B):
        further = tf.identity(there)
    back = tf.identity(further).numpy()
    assert further.device == B and there.shape == np.shape(value)
    np.testing.assert_array_equal(back, value)
    assert there.dtype == tf.as_dtype(np.asarray(value).dtype)


def test_variables_stay_and_are_used_where_they_are(connected):
    with tf.device(A):
        v = tf.Variable([1.0, 2.0])
    v.assign_add([1.0, 1.0])
    with tf.device(B):
        y = v * 2.0
    assert v.device == A and v.handle.device == A and y.device == B
    np.testing.assert_array_equal(y.numpy(), [4.0, 6.0])
    np.testing.assert_array_equal(v.numpy(), [2.0, 3.0])


def test_training_with_variables_elsewhere(connected, tmp_path):
    with tf.device("/job:worker/task:0"):
        w = tf.Variable([[0.0], [0.0]])
    optimizer = tf.train.AdamOptimizer(0.5)
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), tf.constant([[5.0], [11.0], [19.0]])
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    assert float(loss) < 20.0
    assert optimizer.get_slot(w, "m").device == A
    checkpoint = tf.train.Checkpoint(w=w)
    path, before = checkpoint.save(str(tmp_path / "saved")), w.numpy()
    w.assign([[9.0], [9.0]])
    checkpoint.restore(path)
    np.testing.assert_array_equal(w.numpy(), before)


def test_functions_run_where_they_are_called(connected):
    @tf.function
    def inner(t):
        return tf.cond(tf.reduce_sum(t) > 3.0, lambda: t * 10.0, lambda: t)

    @tf.function
    def outer(t):
        return inner(t) + tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + t), [0, tf.zeros_like(t)])[1]

    for place in (A, B):
        with tf.device(place):
            result = outer(tf.constant([1.0, 3.0]))
        assert result.device == place
        np.testing.assert_array_equal(result.numpy(), [13.0, 39.0])
    assert outer(tf.constant([1.0])).device == HERE
    with tf.device(A), tf.GradientTape() as tape:
        x = tf.constant([2.0])
        tape.watch(x)
        y = outer(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [4.0])


def test_a_function_that_uses_a_variable_of_another_task(connected):
    with tf.device(A):
        v = tf.Variable(2.0)
    assert float(tf.function(lambda t: t * v)(tf.constant(3.0))) == 6.0
    tf.function(lambda: v.assign_add(1.0))()
    assert float(v.numpy()) == 3.0


def test_queues_and_datasets_there(connected):
    with tf.device(A):
        queue = tf.queue.FIFOQueue(3, [tf.int32], shapes=[[]])
        other = tf.queue.FIFOQueue(3, [tf.int32], shapes=[[]])
        numbers = [int(x) for x in tf.data.Dataset.range(6).map(lambda x: x * 2).filter(lambda x: x > 3)]
    queue.enqueue(5)
    assert int(other.size()) == 0 and int(queue.dequeue()) == 5
    assert numbers == [4, 6, 8, 10]


def test_what_is_not_needed_is_let_go(connected):
    with tf.device(A):
        kept = [tf.ones([2]) for _ in range(5)]
        v = tf.Variable(1.0)
    store = connected.servers["worker", 0]._worker.eager._resources
    (objects,) = store._containers.values()
    assert _held(connected) >= 6 and len(objects) == 1
    del kept, v
    gc.collect()
    for _ in range(500):
        if not _held(connected) and not objects:
            break
        time.sleep(0.01)
    assert not _held(connected) and not objects


def test_errors_are_those_of_the_operation(connected):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"In\[0\]: \[2,3\].*\[Op:MatMul\]"), tf.device(A):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    for name in ("/job:nothing/task:0", "/job:worker/task:7", "/job:worker/task:0/gpu:0"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"), tf.device(name):
            tf.ones([1])
    table = tf.queue.FIFOQueue(1, [tf.int32])
    with tf.device(A):
        table.enqueue(1)  # a resource of this process is used here
    assert int(table.dequeue()) == 1


def test_random_numbers_are_the_same_there(connected):
    def draw():
        tf.set_random_seed(3)
        return tf.random.uniform([3]).numpy()

    with tf.device(A):
        there = draw()
    np.testing.assert_array_equal(there, draw())


def test_devices_of_all_tasks_are_listed(connected):
    assert [d.name for d in tf.config.experimental.list_logical_devices()] == [HERE, A, B]
    assert tf.config.experimental_list_devices() == [HERE, A, B]
    connecting.disconnect()
    assert tf.config.experimental_list_devices() == [HERE]
    with pytest.raises(RuntimeError, match="connected to no cluster"), tf.device(A):
        tf.ones([1])


def test_a_task_of_the_cluster_has_its_name_and_serves(workers):
    (mine,) = free_addresses(1)
    cluster = tf.train.ClusterSpec({"chief": [mine], "worker": [workers.spec.task_address("worker", 0)]})
    tf.config.experimental_connect_to_cluster(cluster, job_name="chief", task_index=0)
    try:
        assert tf.constant(1).device == "/job:chief/replica:0/task:0/device:CPU:0"
        with tf.device("/job:chief/task:0"):
            assert int(tf.constant(2) * 3) == 6
        with tf.Graph().as_default(), tf.Session("grpc://" + mine) as session:
            assert session.run(tf.constant(1)) == 1
    finally:
        connecting.disconnect()


def test_hosts_and_tensors_of_an_earlier_connection(workers):
    addresses = workers.spec.as_dict()["worker"]
    tf.config.experimental_connect_to_host(addresses, job_name="machine")
    try:
        with tf.device("/job:machine/task:1"):
            old = tf.ones([2])
        assert old.device == "/job:machine/replica:0/task:1/device:CPU:0"
        tf.contrib.eager.connect_to_remote_host("grpc://" + addresses[0])
        with pytest.raises(tf.errors.AbortedError, match="ended"), tf.device(A):
            tf.negative(old)
    finally:
        connecting.disconnect()


@pytest.mark.parametrize(
    "connect, kind",
    [
        (lambda: tf.config.experimental_connect_to_cluster({"worker": ["localhost:1"]}), ValueError),
        (lambda: tf.config.experimental_connect_to_host(), ValueError),
        (lambda: tf.contrib.eager.set_server_def("worker"), TypeError),
    ],
)
def test_what_is_no_cluster_is_refused(connect, kind):
    with pytest.raises(kind):
        connect()


def test_a_lost_worker_is_unavailable_and_a_new_one_knows_nothing():
    cluster = Cluster(worker=1)
    address = cluster.spec.task_address("worker", 0)
    tf.config.experimental_connect_to_host(address)
    try:
        with tf.device(A):
            x, v = tf.ones([2]), tf.Variable(1.0)
        cluster.stop("worker", 0)
        for use in (x.numpy, v.numpy, lambda: tf.add(v, 1.0)):
            with pytest.raises(tf.errors.UnavailableError, match="can't be reached"):
                use()
        cluster.servers["worker", 0] = tf.train.Server(cluster.spec, "worker", 0)
        for _ in range(200):  # until the channel is up again
            try:
                x.numpy()
            except tf.errors.UnavailableError:
                time.sleep(0.05)
            except tf.errors.AbortedError as e:
                assert "restarted" in str(e)
                break
        else:
            pytest.fail("The new server was not found")
        tf.config.experimental_connect_to_host(address)
        with tf.device(A):
            assert float(tf.ones([])) == 1.0
    finally:
        connecting.disconnect()
        cluster.close()
