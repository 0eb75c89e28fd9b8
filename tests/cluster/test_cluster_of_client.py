"""A session may bring its own cluster in `ConfigProto.cluster_def`: names of tasks are its own affair then."""

import pytest

import everflow as tf
from everflow.cli.launch import free_addresses


@pytest.fixture
def servers():
    made = [tf.train.Server.create_local_server() for _ in range(2)]
    yield made
    for server in made:
        server._stop()


def _config(servers, **more):
    addresses = [s.target.removeprefix("grpc://") for s in servers]
    spec = tf.train.ClusterSpec({"worker": addresses})
    return tf.ConfigProto(cluster_def=spec.as_cluster_def(), **more)


def test_servers_that_know_nothing_of_each_other(servers):
    with tf.device("/job:worker/task:0"):
        a = tf.constant(3.0)
    with tf.device("/job:worker/task:1/cpu:0"):
        b = a * 2.0
        v = tf.Variable(1.0)
    with tf.device("/job:worker/task:0"):
        c = b + v
    with tf.Session(servers[0].target, config=_config(servers)) as sess:
        names = [d.name for d in sess.list_devices()]
        sess.run(v.initializer)
        assert sess.run(c) == 7.0
        metadata = tf.RunMetadata()
        sess.run(c, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert names == [f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2)]
    assert {s.device for s in metadata.step_stats.dev_stats} == set(names)


def test_the_other_server_has_the_other_name(servers):
    with tf.device("/job:worker/task:1"):
        x = tf.constant(5.0)
    y = x + 1.0
    with tf.Session(servers[1].target, config=_config(servers)) as sess:
        assert sess.run(y) == 6.0
        assert sess.list_devices()[0].name == "/job:worker/replica:0/task:1/device:CPU:0"


def test_filters_hide_tasks(servers):
    config = _config(servers, device_filters=["/job:worker/task:0"])
    with tf.Session(servers[0].target, config=config) as sess:
        tf.constant(1.0)
        assert sess.run(tf.constant(2.0)) == 2.0
        assert len(sess.list_devices()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="task:1"), tf.device("/job:worker/task:1"):
            sess.run(tf.constant(3.0))


def test_a_cluster_without_its_server(servers):
    config = tf.ConfigProto(cluster_def=tf.train.ClusterSpec({"worker": free_addresses(1)}).as_cluster_def())
    with pytest.raises(tf.errors.InvalidArgumentError, match="doesn't have the server"):
        tf.Session(servers[0].target, config=config).run(tf.constant(1.0))


def test_what_such_a_session_has_is_its_own(servers):
    """As in TensorFlow, where a session with a cluster of its own shares neither variables nor queues with any other."""
    v = tf.get_variable("v", initializer=1.0)
    queue = tf.FIFOQueue(3, [tf.int32], shared_name="q")
    there = tf.is_variable_initialized(v)
    with tf.Session(servers[0].target) as plain, tf.Session(servers[0].target, config=_config(servers)) as brought:
        plain.run([v.initializer, queue.enqueue(1)])
        assert not brought.run(there) and brought.run(queue.size()) == 0
        brought.run([v.initializer, queue.enqueue(2)])
        with tf.Session(servers[0].target, config=_config(servers)) as other:
            assert not other.run(there) and other.run(queue.size()) == 0
        assert plain.run([there, queue.size()]) == [True, 1]


def test_two_sessions_call_the_same_server_by_different_names(servers):
    addresses = [s.target.removeprefix("grpc://") for s in servers]
    renamed = tf.train.ClusterSpec({"chief": {3: addresses[0]}, "ps": {7: addresses[1]}})
    with tf.device("/job:worker/task:1"):
        v = tf.get_variable("v", initializer=1.0)
    with tf.Session(servers[0].target, config=_config(servers)) as first, tf.Graph().as_default():
        first.run(v.initializer)
        with tf.device("/job:ps/task:7"):
            u = tf.get_variable("v", initializer=7.0)
        with tf.Session(servers[0].target, config=tf.ConfigProto(cluster_def=renamed.as_cluster_def())) as second:
            names = [d.name for d in second.list_devices()]
            second.run(u.initializer)
            assert [second.run(u), first.run(v)] == [7.0, 1.0]
    assert names == ["/job:chief/replica:0/task:3/device:CPU:0", "/job:ps/replica:0/task:7/device:CPU:0"]


def test_an_empty_cluster_has_no_server(servers):
    config = tf.ConfigProto()
    config.cluster_def.SetInParent()
    with pytest.raises(tf.errors.InvalidArgumentError, match="doesn't have the server"):
        tf.Session(servers[0].target, config=config).run(tf.constant(1.0))
