"""What replicas write, update and are told: the same for a program as in TensorFlow."""

import glob

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.summary import v2 as summary
from everflow.summary.reading import summary_iterator

TWO = ["/cpu:0", "/cpu:1"]


def _number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 2.0


def _central():
    return tf.distribute.experimental.CentralStorageStrategy(TWO)


@pytest.mark.parametrize(("aggregation", "value"), [("SUM", 6.0), ("MEAN", 3.5), ("ONLY_FIRST_REPLICA", 3.0)])
def test_one_variable_of_several_replicas(aggregation, value):
    strategy = _central()
    with tf.Graph().as_default(), strategy.scope():
        held = tf.Variable(1.0, aggregation=tf.VariableAggregation[aggregation])
        written = strategy.experimental_run_v2(lambda: held.assign_add(_number()))
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            session.run(strategy.group(written))
            assert session.run(held.read_value()) == value


def test_a_replica_may_not_write_what_nobody_adds_up():
    strategy = _central()
    with tf.Graph().as_default(), strategy.scope():
        held = tf.Variable(1.0)
        assert [v.name for v in tf.trainable_variables()] == ["Variable:0"]
        with pytest.raises(ValueError, match="aggregation"):
            strategy.experimental_run_v2(lambda: held.assign(2.0))


def test_updates_as_one_or_as_a_tuple():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with tf.Graph().as_default(), strategy.scope():
        held = tf.Variable(1.0)
        apart = strategy.extended.update(held, lambda v: v.assign_add(1.0), group=False)
        assert isinstance(apart, tuple) and len(apart) == 2
        assert type(strategy.extended.update(held, lambda v: v.assign_add(1.0))).__name__ == "Mirrored"
        devices = strategy.extended.non_slot_devices([held])
        assert len(strategy.extended.update_non_slot(devices, lambda: tf.constant(1.0), group=False)) == 2


def test_replicas_are_numbered_by_tensors_at_the_root():
    with tf.Graph().as_default() as graph, tf.name_scope("outer"):
        strategy = tf.distribute.MirroredStrategy(TWO)
        strategy.experimental_run_v2(lambda: tf.no_op("a"))
        names = [op.name for op in graph.get_operations()]
    assert names == ["Const", "outer/a", "Const_1", "outer/replica_1/a"]
    assert tf.distribute.get_replica_context().replica_id_in_sync_group == 0


def test_a_replica_may_not_do_what_is_for_all():
    for strategy in (tf.distribute.MirroredStrategy(TWO), tf.distribute.get_strategy()):
        with tf.Graph().as_default(), strategy.scope(), pytest.raises(RuntimeError):
            strategy.experimental_run_v2(lambda: strategy.reduce("SUM", 1.0))  # noqa: B023


def test_batches_have_a_part_for_each_replica():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with tf.Graph().as_default():
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(5).batch(4))
        parts = strategy.experimental_local_results(iterator.get_next())
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(iterator.initialize())
            seen = [[part.tolist() for part in session.run(parts)] for _ in range(2)]
    assert seen == [[[0, 1], [2, 3]], [[4], []]]


def test_one_replica_writes_summaries(tmp_path):
    strategy = tf.distribute.MirroredStrategy(TWO)
    with tf.Graph().as_default():
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            summary._set_step(tf.constant(1, tf.int64))
            written = strategy.experimental_run_v2(lambda: tf.compat.v2.summary.write("a", 42.0))
            summary._set_step(None)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(writer.init())
            session.run(list(strategy.experimental_local_results(written)))
            session.run(writer.flush())
    (path,) = glob.glob(str(tmp_path / "*"))
    assert [v.tag for event in summary_iterator(path) for v in event.summary.value] == ["a"]


def test_what_is_read_as_a_mean_can_be_counted_up():
    strategy = tf.distribute.MirroredStrategy(TWO)
    on_read = tf.VariableSynchronization.ON_READ
    with tf.Graph().as_default(), strategy.scope():
        mean, total = (
            tf.Variable(1.0, synchronization=on_read, aggregation=how)
            for how in (tf.VariableAggregation.MEAN, tf.VariableAggregation.SUM)
        )
        assert mean.synchronization is on_read
        mean.assign_add(4.0)
        with pytest.raises(ValueError, match="sum"):
            total.assign_add(4.0)


def test_variables_are_made_beside_those_of_the_strategy():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with tf.Graph().as_default():
        alone = tf.Variable(1.0)
        with strategy.scope(), pytest.raises(ValueError):
            strategy.extended.colocate_vars_with(alone)


def test_sessions_of_a_strategy_are_apart():
    assert tf.distribute.MirroredStrategy(TWO).update_config_proto(tf.ConfigProto()).isolate_session_state
    assert not tf.distribute.get_strategy().update_config_proto(tf.ConfigProto()).isolate_session_state


def test_losses_given_as_functions_go_by_tape():
    with tf.Graph().as_default() as graph:
        held = tf.get_variable("v", [], use_resource=True)
        tf.get_variable("unused", [], use_resource=True)
        pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(lambda: held * 2.0)
        assert [v.name for _, v in pairs] == ["v:0"]
        assert not any(op.name.startswith("gradients/") for op in graph.get_operations())


def test_models_that_run_eagerly_are_not_spread():
    with eager_mode():
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
            with pytest.raises(ValueError, match="run_eagerly"):
                model.compile("sgd", "mse", run_eagerly=True, experimental_run_tf_function=False)
            model.compile("sgd", run_eagerly=True)


@pytest.mark.parametrize("zero_debias, expected", [(False, [5.5, 6.5]), (True, [1.5, 1.5])])
def test_averages_move_towards_the_mean_of_the_replicas(zero_debias, expected):
    from everflow.train.moving_averages import assign_moving_average

    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])

    def replica():
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        average = tf.Variable([9.5, 11.5])
        return average, assign_moving_average(average, tf.stack([1.0 + number, 2.0 - number]), 0.5, zero_debias)

    with tf.Graph().as_default(), strategy.scope():
        average, moved = strategy.extended.call_for_each_replica(replica)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(strategy.experimental_local_results(moved))
            for copy in sess.run(list(average.values)):
                assert copy.tolist() == expected


def test_copies_begin_on_their_devices_and_have_a_synchronization():
    with tf.Graph().as_default() as graph, tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        tf.Variable([1.0], name="v")
        start = graph.get_operation_by_name("v/replica_1/Initializer/Identity")
        assert start.device == "/replica:0/task:0/device:CPU:1"
        for wrong in (tf.VariableSynchronization.NONE, "unknown"):
            with pytest.raises(ValueError):
                tf.get_variable("w", [1], synchronization=wrong)
