"""What tests of strategies are built on: `strategy_test_lib` and `multi_worker_test_base`."""

import importlib
import unittest

import pytest

import everflow as tf
import tests.served  # noqa: F401

strategies, workers, mirrored_strategy, collective_all_reduce_strategy, distribute_coordinator = (
    importlib.import_module(f"tensorflow.python.distribute.{name}")
    for name in (
        "strategy_test_lib",
        "multi_worker_test_base",
        "mirrored_strategy",
        "collective_all_reduce_strategy",
        "distribute_coordinator",
    )
)
context = importlib.import_module("tensorflow.python.eager.context")


def _passes(base, check):
    """Run a test of one method in a class of such a base."""
    case = type("Case", (base,), {"test": check})("test")
    result = unittest.TestResult()
    unittest.TestSuite([case]).run(result)
    assert result.testsRun == 1
    assert not result.errors + result.failures, (result.errors + result.failures)[0][1]


@pytest.mark.parametrize(
    "name",
    ["minimize_loss_graph", "replica_id", "call_and_merge_exceptions", "numpy_dataset", "trainable_variable", "global_step_update"],
)  # fmt: skip
def test_tests_of_any_strategy(name):
    _passes(
        strategies.DistributionTestBase,
        lambda self: getattr(self, f"_test_{name}")(mirrored_strategy.MirroredStrategy(["/cpu:0"])),
    )


@pytest.mark.parametrize("name", ["run", "all_reduce_sum", "all_reduce_mean_gradient_tape"])
def test_tests_of_strategies_with_one_replica(name):
    def check(self):
        with context.eager_mode():
            getattr(self, f"_test_{name}")(mirrored_strategy.MirroredStrategy(["/cpu:0"]))

    _passes(strategies.OneDeviceDistributionTestBase, check)


def test_clients_of_a_cluster_are_threads():
    seen = []

    def client(task_type, task_id, num_gpus):
        seen.append((task_type, task_id, num_gpus, tf.executing_eagerly()))

    def check(self):
        self._run_between_graph_clients(client, self._cluster_spec, 0)
        with self.cached_session() as session, tf.device("/job:worker/task:1"):
            assert session.run(tf.constant(2) * 3) == 6

    _passes(workers.MultiWorkerTestBase, check)
    assert sorted(seen) == [("worker", 0, 0, False), ("worker", 1, 0, False)]


def test_independent_workers_add_up_what_they_have():
    sums = []

    def work(strategy):
        with strategy.scope():
            total = strategy.reduce("SUM", strategy.experimental_run_v2(lambda: tf.constant(1.0)), axis=None)
            tf.train.get_or_create_global_step()
            with tf.train.MonitoredTrainingSession() as session:
                sums.append((workers.get_task_index(), float(session.run(total))))

    def task():
        strategy = collective_all_reduce_strategy.CollectiveAllReduceStrategy()
        distribute_coordinator.run_distribute_coordinator(work, strategy, mode="independent_worker")

    def check(self):
        threads = self.run_multiple_tasks_in_threads(task, workers.create_cluster_spec(num_workers=2))
        self.join_independent_workers(threads["worker"])

    _passes(workers.IndependentWorkerTestBase, check)
    assert sorted(sums) == [(0, 2.0), (1, 2.0)]
