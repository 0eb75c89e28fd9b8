"""tf.distribute on two CPU devices: variables with copies, replica functions, reductions, training as on one device."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

TWO = tf.ConfigProto(device_count={"CPU": 2})
SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def run(*fetches):
    with tf.Session(config=TWO) as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(f) for f in fetches]


def test_outside_of_all_strategies():
    default = tf.distribute.get_strategy()
    assert not tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context()
    assert default.num_replicas_in_sync == 1 and default.experimental_local_results(5) == (5,)
    assert tf.distribute.get_replica_context().strategy is default
    assert run(default.experimental_run_v2(lambda v: tf.constant(v) * 2.0, args=(4.0,))) == [8.0]


def test_arguments_and_results_have_a_part_for_each_replica(strategy):
    with strategy.scope():
        first = strategy.experimental_run_v2(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group * 10)
        second = strategy.experimental_run_v2(lambda v, add: {"a": v + add, "b": [v]}, args=(first,), kwargs={"add": 1})
        parts = [strategy.experimental_local_results(second["a"]), strategy.reduce(SUM, second["b"][0])]
    assert run(*parts) == [(1, 11), 10]


def test_reductions(strategy):
    with strategy.scope():
        values = strategy.experimental_run_v2(
            lambda: tf.range(tf.distribute.get_replica_context().replica_id_in_sync_group + 2)
        )
        floats = strategy.experimental_run_v2(lambda v: tf.cast(v, tf.float32), args=(values,))
        reduced = [strategy.reduce(op, floats, axis=0) for op in (SUM, MEAN)]
        shared = strategy.experimental_run_v2(
            lambda: tf.distribute.get_replica_context().all_reduce(
                "mean", {"id": tf.to_float(tf.distribute.get_replica_context()._id)}
            )
        )
    assert run(*reduced) == [4.0, 0.8]  # 0 + 1, and 0 + 1 + 2
    assert run(list(strategy.experimental_local_results(shared["id"]))) == [[0.5, 0.5]]


def test_a_mirrored_variable_in_and_out_of_replicas(strategy):
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0, aggregation=tf.VariableAggregation.MEAN)
        w = tf.get_variable("w", initializer=1.0)
        assigned = v.assign(5.0)
        added = strategy.experimental_run_v2(
            lambda: v.assign_add(tf.to_float(tf.distribute.get_replica_context()._id) * 4.0)
        )
        with pytest.raises(ValueError, match="aggregation"):
            strategy.experimental_run_v2(lambda: w.assign_add(1.0))
    assert [c.name for c in v.values] == ["v:0", "v/replica_1:0"]
    with tf.Session(config=TWO) as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(assigned) == 5.0
        assert sess.run(list(v.values)) == [5.0, 5.0]
        sess.run(strategy.group(added))
        assert sess.run(list(v.values)) == [7.0, 7.0]
        assert sess.run(v + 1.0) == 8.0


def test_training_on_two_devices_is_training_on_one_with_all_the_data(strategy):
    data = np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32)

    def step(x):
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        out = tf.layers.dense(tf.matmul(x, w), 1, kernel_initializer=tf.ones_initializer(), name="d")
        loss = tf.reduce_sum(tf.square(out - 1.0))
        return tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_or_create_global_step()), loss

    with strategy.scope():
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices(data).batch(6).repeat())
        trained, losses = strategy.experimental_run(step, iterator)
        loss, trained = strategy.reduce(SUM, losses), strategy.group(trained)
        copies = [v for each in tf.trainable_variables() for v in each.values]
    with tf.Session(config=TWO) as sess:
        sess.run([tf.global_variables_initializer(), iterator.initialize()])
        spread = [sess.run([loss, trained])[0] for _ in range(5)]
        values = sess.run(copies)
        assert sess.run(tf.train.get_global_step()) == 5
    for one, other in zip(values[::2], values[1::2]):
        np.testing.assert_array_equal(one, other)
    with tf.Graph().as_default():
        trained, loss = step(tf.constant(data))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            alone = [sess.run([loss, trained])[0] for _ in range(5)]
            for one, other in zip(sess.run(tf.trainable_variables()), values[::2]):
                np.testing.assert_allclose(one, other, rtol=1e-5)
    np.testing.assert_allclose(spread, alone, rtol=1e-5)


def test_saving_and_restoring_all_copies(strategy, tmp_path):
    with strategy.scope():
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        seen = tf.Variable(
            0.0,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            name="seen",
        )
        count = strategy.experimental_run_v2(lambda: seen.assign_add(3.0))
        saver = tf.train.Saver()
        set_v = v.assign([5.0, 6.0])
    with tf.Session(config=TWO) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([set_v, list(strategy.experimental_local_results(count))])
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(list(v.values)), [[5.0, 6.0]] * 2)
        assert sess.run(list(seen.values)) == [3.0, 3.0]
    assert tf.train.list_variables(path) == [("seen", []), ("v", [2])]
    assert tf.train.load_variable(path, "seen") == 6.0


def test_an_error_in_a_replica_reaches_the_caller_and_leaves_the_scopes_alone(strategy):
    def bad():
        if tf.distribute.get_replica_context()._id == 1:
            raise ZeroDivisionError("replica 1")
        tf.distribute.get_replica_context().all_reduce("sum", tf.constant(1.0))

    with strategy.scope():
        with pytest.raises(ZeroDivisionError, match="replica 1"):
            strategy.experimental_run_v2(bad)
        assert tf.constant(1.0, name="after").op.name == "after" and tf.distribute.in_cross_replica_context()
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        with pytest.raises(ValueError, match="replica function"):
            tf.train.AdamOptimizer().minimize(v * 2.0)
        with pytest.raises(RuntimeError, match="cross-replica"):
            tf.train.AdamOptimizer().apply_gradients([(tf.constant(1.0), v)])


def test_one_device():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:1")
    with strategy.scope():
        v = tf.get_variable("v", initializer=2.0)
        trained, loss = strategy.experimental_run_v2(
            lambda: (tf.train.MomentumOptimizer(0.1, 0.9).minimize(v * v), v * v)
        )
    assert v.device == "/replica:0/task:0/device:CPU:1"
    assert run(strategy.reduce(MEAN, loss)) == [4.0]
    with pytest.raises(RuntimeError), strategy.scope():
        with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
            pass


def test_what_makes_no_strategy():
    with pytest.raises(AssertionError):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"])
    with pytest.raises(ValueError, match="cannot be reduced"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).reduce(SUM, tf.constant(1.0))
    with pytest.raises(ValueError):
        tf.distribute.InputContext(num_replicas_in_sync=2).get_per_replica_batch_size(3)


def test_a_reduction_over_replicas_has_a_gradient(strategy):
    def slope():
        x = tf.constant(4.0)
        return tf.gradients(tf.distribute.get_replica_context().all_reduce(SUM, 2.0 * x), x)[0]

    assert run(list(strategy.experimental_run_v2(slope).values)) == [[4.0, 4.0]]


def test_steps_in_a_loop(strategy):
    iterator = strategy.make_input_fn_iterator(lambda _: tf.data.Dataset.range(10))
    with strategy.scope():

        def step(context, inputs):
            values = strategy.extended.call_for_each_replica(tf.to_float, args=(inputs,))
            context.set_last_step_output("sum", values, SUM)
            context.set_non_tensor_output("names", ["a"])
            return tf.group(*values.values)

        made = strategy.extended.experimental_run_steps_on_iterator(step, iterator, 2, {"sum": tf.constant(0.0)})
    assert made.non_tensor_outputs == {"names": ["a"]}
    with tf.Session(config=TWO) as sess:
        sess.run(iterator.initialize())
        assert sess.run([made.run_op, made.last_step_outputs])[1] == {"sum": 5.0}


def test_data_that_ends_in_the_middle_of_an_element():
    with eager_mode():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(2))
        assert [[v.numpy().tolist() for v in element.values] for element in dataset] == [[[0], [1]], [[2], []]]


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_a_loop_over_distributed_data_in_a_function(drop_remainder):
    with eager_mode():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        dataset = tf.data.Dataset.range(5).map(lambda x: (x, {"twice": 2 * x})).batch(4, drop_remainder=drop_remainder)
        distributed = strategy.experimental_distribute_dataset(dataset)

        @tf.function
        def total(elements):
            found, count = tf.constant(0, tf.int64), 0
            for element in elements:
                sums = strategy.experimental_run_v2(lambda e: tf.reduce_sum(e[0] + e[1]["twice"]), args=(element,))
                found += strategy.reduce(SUM, sums, axis=None)
                count += 1
            return found, count

        expected = (18, 1) if drop_remainder else (30, 2)
        assert tuple(int(value) for value in total(distributed)) == expected
        assert tuple(int(value) for value in total(iter(distributed))) == expected


def test_an_iterator_made_in_a_function():
    with eager_mode():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        distributed = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))

        @tf.function
        def first():
            return strategy.experimental_local_results(next(iter(distributed)))

        assert [part.numpy().tolist() for part in first()] == [[0, 1], [2, 3]]


def test_input_functions_give_datasets(strategy):
    with pytest.raises(ValueError, match=r"tf\.data\.Dataset"):
        strategy.make_input_fn_iterator(lambda _: 5)


def test_a_scope_may_be_entered_again():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    scope = strategy.scope()
    for _ in range(2):
        with scope as one, scope as two:
            assert one is two is strategy and tf.distribute.get_strategy() is strategy
        assert not tf.distribute.has_strategy()


def test_what_was_entered_in_a_scope_ends_first():
    with tf.Graph().as_default():
        for inner in (tf.device("/cpu:0"), tf.variable_creator_scope(lambda make, **kwargs: make(**kwargs))):
            scope = tf.distribute.MirroredStrategy(["/cpu:0"]).scope()
            scope.__enter__()
            with inner, pytest.raises(RuntimeError):
                scope.__exit__(None, None, None)
            assert tf.distribute.has_strategy()
            scope.__exit__(None, None, None)
        scope = tf.distribute.MirroredStrategy(["/cpu:0"]).scope()
        scope.__enter__()
        with tf.variable_scope("a"), pytest.raises(RuntimeError):
            scope.__exit__(None, None, None)
        assert not tf.distribute.has_strategy()


def test_a_step_of_an_optimizer_ends_with_its_count():
    with tf.Graph().as_default() as graph, tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        strategy, v = tf.distribute.get_strategy(), tf.get_variable("v", [2])
        count = tf.train.get_or_create_global_step()

        def replica():
            return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * v), global_step=count)

        step = strategy.experimental_run_v2(replica)
        names = [op.name for op in graph.get_operations() if op.name.startswith("GradientDescent/")]
        assert names[-1] == "GradientDescent/ReadVariableOp" and "GradientDescent/group_deps" not in names
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            assert sess.run(count) == 1
