"""tensorflow.python.distribute.strategy_test_lib: what tests of strategies have in common, to be called with a strategy."""

from __future__ import annotations

import contextlib
import os

import numpy as np

import everflow as tf
from everflow.compat import v2
from everflow.distribute.context import get_replica_context
from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.values import select_replica
from everflow.framework.static_values import constant_value
from everflow.test import TestCase


class _TestException(Exception):
    """What a replica function raises to see where it arrives."""


def _raise_exception_fn(_=None):
    raise _TestException


def _merge_raises_fn():
    get_replica_context().merge_call(_raise_exception_fn)


def _call_raises_fn(dist):
    dist.extended.call_for_each_replica(_raise_exception_fn)


def _merge_call_raises_fn():
    get_replica_context().merge_call(_call_raises_fn)


def _call_merge_raises_fn(dist):
    dist.extended.call_for_each_replica(_merge_raises_fn)


def _merge_call_merge_raises_fn():
    get_replica_context().merge_call(_call_merge_raises_fn)


def _all_sum(value):
    return get_replica_context().all_reduce(ReduceOp.SUM, value)


def _all_mean(value):
    return get_replica_context().all_reduce(ReduceOp.MEAN, value)


def _events_from_logdir(test_case, logdir):
    """The events of the only file of a folder."""
    (name,) = os.listdir(logdir)
    return list(tf.train.summary_iterator(os.path.join(logdir, name)))


@contextlib.contextmanager
def _evaluation(test):
    """A function that gives the values of tensors: in a session of the test's, or as they are."""
    if tf.executing_eagerly():
        yield test.evaluate
        return
    with test.cached_session() as session:
        session.run(tf.global_variables_initializer())
        yield session.run


class DistributionTestBase(TestCase):
    """Tests that hold for any strategy."""

    def _step(self, d, layer, one, learning_rate):
        """Draw one step down the error of a layer that should give 2 where it gave 1; (errors before, after) by replica."""

        def loss(x):
            return tf.math.reduce_sum(tf.math.square(tf.reshape(layer(x), []) - tf.constant(2.0)))

        def replica():
            if tf.executing_eagerly():
                with tf.GradientTape() as tape:
                    error = loss(one)
                variables = layer.trainable_variables
                grads = tape.gradient(error, variables)
            else:
                error = loss(one)
                variables = layer.trainable_variables
                grads = tf.gradients(error, variables)
            return error, list(zip(grads, variables))

        error, pairs = d.extended.call_for_each_replica(replica)
        updates = []
        for grad, variable in pairs:
            total = d.extended.reduce_to(ReduceOp.SUM, grad, destinations=variable)
            updates.append(d.extended.update(variable, lambda v, g: v.assign_sub(learning_rate * g), args=(total,)))
        return error, updates

    def _check_descent(self, errors):
        self.assertLess(errors[-1], errors[0])
        self.assertAllClose(0.0, errors[-1], atol=0.2)

    def _layer(self):
        return tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")

    def _test_minimize_loss_eager(self, d):
        with d.scope():
            layer, errors = self._layer(), []
            for _ in range(10):
                error, _ = self._step(d, layer, tf.constant([[1.0]]), 0.2 / d.num_replicas_in_sync)
                errors.append(float(d.experimental_local_results(error)[0]))
        self._check_descent(errors)

    def _test_minimize_loss_graph(self, d, soft_placement=False, learning_rate=0.2):
        config = tf.ConfigProto(allow_soft_placement=soft_placement)
        with tf.Graph().as_default() as graph, self.cached_session(graph=graph, config=config) as session, d.scope():
            error, updates = self._step(d, self._layer(), tf.constant([[1.0]]), learning_rate / d.num_replicas_in_sync)
            session.run(tf.global_variables_initializer())
            before = d.experimental_local_results(error)[0]
            errors = []
            for _ in range(10):
                errors.append(session.run(before))
                session.run([d.group(update) for update in updates])
        self._check_descent(errors)

    def _test_summary_for_replica_zero_only(self, d):
        folder = self.get_temp_dir()

        def replica():
            step = tf.train.get_or_create_global_step()
            return v2.summary.scalar("a", tf.cast(step, tf.float32) + 1.0, step=step)

        with d.scope():
            writer = v2.summary.create_file_writer(folder)
            tf.train.get_or_create_global_step()
            with writer.as_default(), v2.summary.record_if(True):
                written = d.extended.call_for_each_replica(replica)
                if not tf.executing_eagerly():
                    with self.cached_session() as session:
                        session.run(tf.global_variables_initializer())
                        session.run(writer.init())
                        session.run(d.experimental_local_results(written))
                        session.run(writer.close())
                else:
                    writer.close()
        events = [event for event in _events_from_logdir(self, folder) if event.summary.value]
        self.assertEqual(["a"], [event.summary.value[0].tag for event in events])

    def _test_replica_id(self, d):
        def replica():
            return tf.identity(get_replica_context().replica_id_in_sync_group)

        with d.scope():
            ids = d.experimental_local_results(d.extended.call_for_each_replica(replica))
        self.assertEqual(list(range(len(d.extended.worker_devices))), [int(self.evaluate(i)) for i in ids])

    def _test_call_and_merge_exceptions(self, dist):
        with dist.scope():
            for fn in (_raise_exception_fn, _merge_raises_fn, _merge_call_raises_fn, _merge_call_merge_raises_fn):
                with self.assertRaises(_TestException):
                    dist.extended.call_for_each_replica(fn)

    def _input_fn_to_test_input_context(
        self,
        dataset_or_callable_fn,
        expected_num_replicas_in_sync,
        expected_num_input_pipelines,
        expected_input_pipeline_id,
    ):
        """An input function that sees whether it was told what it should be; a number is expected of the next call, too."""
        calls = [0]

        def input_fn(input_context):
            self.assertEqual(expected_num_replicas_in_sync, input_context.num_replicas_in_sync)
            self.assertEqual(expected_num_input_pipelines, input_context.num_input_pipelines)
            if expected_input_pipeline_id is None:
                self.assertEqual(calls[0], input_context.input_pipeline_id)
            else:
                self.assertEqual(expected_input_pipeline_id, input_context.input_pipeline_id)
            calls[0] += 1
            return dataset_or_callable_fn()

        return input_fn

    def _assert_values(self, expected, found, ignore_order):
        (self.assertCountEqual if ignore_order else self.assertEqual)(list(expected), list(found))

    def _test_input_fn_iterable(self, strategy, input_fn, expected_values, ignore_order=False):
        self.assertTrue(tf.executing_eagerly())
        distributed = strategy.experimental_distribute_datasets_from_function(input_fn)
        for _ in range(2):
            found = [[int(part) for part in strategy.experimental_local_results(value)] for value in distributed]
            self.assertEqual(len(expected_values), len(found))
            for expected, value in zip(expected_values, found):
                self._assert_values(expected, value, ignore_order)

    def _test_input_fn_iterator(
        self, iterator, devices, expected_values, sess=None, test_reinitialize=True, ignore_order=False
    ):
        run = self.evaluate if sess is None else sess.run
        run(iterator.initialize() if callable(getattr(iterator, "initialize", None)) else iterator.initializer)
        for _ in range(2 if test_reinitialize else 1):
            for expected in expected_values:
                following = iterator.get_next()
                found = run([select_replica(i, following) for i in range(len(devices))])
                self._assert_values(expected, found, ignore_order)
            with self.assertRaises(tf.errors.OutOfRangeError):
                following = iterator.get_next()
                run([select_replica(i, following) for i in range(len(devices))])
            run(iterator.initialize())

    def _test_global_step_update(self, strategy):
        with strategy.scope():
            step = tf.get_variable(
                "step",
                initializer=tf.zeros([], tf.int64),
                trainable=False,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )

            def replica():
                return step.assign_add(1)

            update = strategy.extended.call_for_each_replica(replica)
            with _evaluation(self) as run:
                run(
                    strategy.experimental_local_results(update)[0] if tf.executing_eagerly() else strategy.group(update)
                )
                self.assertEqual(strategy.num_replicas_in_sync if _is_shared(step) else 1, run(step.read_value()))

    def _test_numpy_dataset(self, strategy):
        rows = [np.random.randint(100, size=[4]) for _ in range(20)]
        with strategy.scope(), self.cached_session() as session:
            data = strategy.experimental_make_numpy_dataset(np.array(rows), session=session)
            iterator = strategy.make_dataset_iterator(data.batch(strategy.num_replicas_in_sync))
            session.run(iterator.initialize())
            found = []
            for _ in range(len(rows) // strategy.num_replicas_in_sync):
                found.extend(session.run(list(strategy.experimental_local_results(iterator.get_next()))))
        self.assertAllEqual(np.array(rows), np.concatenate(found))

    def _test_trainable_variable(self, strategy):
        with strategy.scope():
            for given, expected in (({}, True), ({"trainable": True}, True), ({"trainable": False}, False)):
                self.assertEqual(expected, tf.Variable(1.0, **given).trainable)


def _is_shared(variable) -> bool:
    """Whether all replicas have the same variable, each of which then counts."""
    return not hasattr(variable, "values")


class _CollectiveTests(TestCase):
    """Sums and means over replicas, and their gradients; what a kind of strategies expects is in `_replicas`."""

    _replicas: int

    def _per_replica(self, strategy, inputs):
        def pick(values):
            return values[int(constant_value(get_replica_context().replica_id_in_sync_group))]

        return lambda fn: strategy.experimental_run_v2(lambda: fn([pick(values) for values in inputs]))

    def _test_run(self, strategy):
        out = strategy.experimental_run_v2(lambda: {"a": tf.constant(1.0), "b": [tf.constant(2), (tf.constant(3.0),)]})
        self.assertEqual({"a", "b"}, set(out))
        for value, expected in ((out["a"], 1.0), (out["b"][0], 2), (out["b"][1][0], 3.0)):
            parts = strategy.experimental_local_results(value)
            self.assertLen(parts, self._replicas)
            self.assertAllEqual([expected] * self._replicas, self.evaluate(list(parts)))

    def _test_collective_comms(self, strategy, comm_fn, inputs, expected):
        """`inputs` has a tuple of values for each replica."""
        by_position = list(zip(*inputs))
        found = self._per_replica(strategy, by_position)(lambda own: comm_fn(own))
        self._compare(strategy, found, expected)

    def _test_collective_comms_gradients(self, strategy, comm_fn, inputs, expected_grads):
        if tf.executing_eagerly():
            self.skipTest("Gradients of graphs are for graphs")

        def step(own):
            return tf.gradients([tf.identity(v) for v in comm_fn(own)], own)

        self._compare(strategy, self._per_replica(strategy, list(zip(*inputs)))(step), expected_grads)

    def _test_collective_comms_gradient_tape(self, strategy, comm_fn, inputs, expected_grads):
        def step(own):
            with tf.GradientTape() as tape:
                tape.watch(own)
                result = comm_fn(own)
            return tape.gradient(result, own)

        self._compare(strategy, self._per_replica(strategy, list(zip(*inputs)))(step), expected_grads)

    def _compare(self, strategy, found, expected):
        for value, wanted in zip(found, expected):
            for part, its_own in zip(strategy.experimental_local_results(value), wanted):
                part = tf.math.add(tf.zeros([]), part) if isinstance(part, tf.IndexedSlices) else part
                self.assertAllClose(its_own, self.evaluate(part))

    def _collective(self, strategy, check, fn, scale):
        n = self._replicas
        inputs = [(1.0 + 2 * i, [2.0 + i, 4.0]) for i in range(n)]
        sums = sum(own[0] for own in inputs), np.sum([own[1] for own in inputs], axis=0)
        if check == self._test_collective_comms:
            expected = [[total * scale] * n for total in sums]
        else:
            expected = [[scale * n] * n, [[scale * n] * 2] * n]
        tensors = [tuple(tf.constant(value) for value in own) for own in inputs]
        check(strategy, fn, tensors, expected)

    def _test_all_reduce_sum(self, strategy):
        self._collective(strategy, self._test_collective_comms, _all_sum, 1.0)

    def _test_all_reduce_sum_gradients(self, strategy):
        self._collective(strategy, self._test_collective_comms_gradients, _all_sum, 1.0)

    def _test_all_reduce_sum_gradient_tape(self, strategy):
        self._collective(strategy, self._test_collective_comms_gradient_tape, _all_sum, 1.0)

    def _test_all_reduce_mean(self, strategy):
        self._collective(strategy, self._test_collective_comms, _all_mean, 1.0 / self._replicas)

    def _test_all_reduce_mean_gradients(self, strategy):
        self._collective(strategy, self._test_collective_comms_gradients, _all_mean, 1.0 / self._replicas)

    def _test_all_reduce_mean_gradient_tape(self, strategy):
        self._collective(strategy, self._test_collective_comms_gradient_tape, _all_mean, 1.0 / self._replicas)


class OneDeviceDistributionTestBase(_CollectiveTests):
    """Tests of strategies with one replica."""

    _replicas = 1

    def _test_device_and_input_device_are_colocated(self, strategy):
        iterator = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(5)))
        self._check_place(strategy, iterator, lambda fn: fn)

    def _test_device_and_input_device_are_colocated_with_function(self, strategy):
        iterator = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(5)))
        self._check_place(strategy, iterator, tf.function)

    def _check_place(self, strategy, iterator, wrapped):
        """What comes in is where the replica works."""
        seen = wrapped(lambda: strategy.experimental_run_v2(lambda x: x + 1, args=(next(iterator),)))
        (device,) = strategy.extended.worker_devices
        expected = tf.DeviceSpec.from_string(device)
        found = tf.DeviceSpec.from_string(seen().device)
        self.assertEqual((expected.device_type, expected.device_index), (found.device_type, found.device_index))


class TwoDeviceDistributionTestBase(_CollectiveTests):
    """Tests of strategies with two replicas."""

    _replicas = 2
