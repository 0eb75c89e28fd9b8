"""Strategies that keep each variable in one place."""

import numpy as np
import pytest

import everflow as tf

LOCAL = [
    lambda: tf.distribute.experimental.CentralStorageStrategy(),
    lambda: tf.distribute.experimental.ParameterServerStrategy(),
    lambda: tf.contrib.distribute.ParameterServerStrategy(),
]

pytestmark = pytest.mark.usefixtures("own_graph")


def trained(strategy, steps):
    """The variable after each step of two replicas, or one, that pull it towards their number."""
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)

        def step():
            number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0
            loss = tf.square(v - number)
            with tf.control_dependencies([tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)]):
                return tf.identity(loss)

        losses = strategy.experimental_run_v2(step)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        return [(session.run(total), session.run(v)) for _ in range(steps)]


@pytest.mark.parametrize("make", LOCAL)
def test_variables_are_in_one_place(make):
    strategy = make()
    assert strategy.num_replicas_in_sync == 1
    assert strategy.extended.parameter_devices == ("/device:CPU:0",)
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        step = strategy.experimental_run_v2(tf.train.get_or_create_global_step)
    assert v.device == step.device == "/device:CPU:0"


def test_replicas_share_one_copy():
    strategy = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0")
    np.testing.assert_allclose(trained(strategy, 2), [(1.0, 1.2), (0.68, 1.5)], rtol=1e-6)
    assert [v.name for v in tf.global_variables()] == ["v:0", "v/Momentum:0"]


def test_parameter_servers_take_turns():
    cluster = tf.train.ClusterSpec({"ps": ["localhost:1", "localhost:2"], "worker": ["localhost:3", "localhost:4"]})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=1)
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    assert strategy.extended.parameter_devices == ("/job:ps/task:0", "/job:ps/task:1")
    assert not strategy.extended.should_checkpoint
    with strategy.scope():
        variables = [tf.get_variable(f"v{i}", initializer=1.0) for i in range(3)]
        result = strategy.experimental_run_v2(lambda: variables[0] + 1.0)
    assert [v.device for v in variables] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert result.device == "/job:worker/replica:0/task:1/device:CPU:0"


def test_an_estimator_trains_with_it(tmp_path):
    x = np.arange(8, dtype=np.float32).reshape(8, 1)

    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(
            labels, tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer())
        )
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    config = tf.estimator.RunConfig(train_distribute=tf.contrib.distribute.ParameterServerStrategy(), tf_random_seed=1)
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path), config)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices((x, 2 * x)).repeat(10).batch(4), steps=5)
    np.testing.assert_allclose(estimator.get_variable_value("dense/kernel"), [[1.7360363]], rtol=1e-5)
