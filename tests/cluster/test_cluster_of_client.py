"""A session may bring its own cluster in `ConfigProto.cluster_def`: names of tasks are its own affair then."""

import pytest

import everflow as tf
from tests.cluster.conftest import free_addresses


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


def test_such_sessions_share_no_variables(servers):
    with tf.Graph().as_default():
        v = tf.Variable(50, name="v")
        with (
            tf.Session(servers[0].target, config=_config(servers[:1])) as one,
            tf.Session(servers[0].target, config=_config(servers[:1])) as other,
        ):
            one.run(v.initializer)
            assert one.run(v) == 50
            with pytest.raises(tf.errors.FailedPreconditionError):
                other.run(v)
