"""How a session's graph is run: which plans are kept, and which kind of run an option asks for."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos.config_pb2 import ConfigProto
from everflow.runtime.executor import CHECKED, REFERENCE, LocalExecutor
from everflow.runtime.plan.interpret import Interpreted


def kind_of(executor_type):
    config = ConfigProto()
    config.experimental.executor_type = executor_type
    return config


@pytest.fixture
def executor(graph):
    return LocalExecutor(graph, ConfigProto())


def test_a_plan_is_made_once_for_each_choice_of_fetches_and_feeds(executor):
    x = tf.placeholder(tf.float32, [])
    y = -x
    executor.extend()
    plan = executor.prepare([y], [x])
    assert executor.prepare([y], [x]) is plan and plan.call([2.0]) == [-2.0]
    assert executor.prepare([y, x], [x]) is not plan and executor.prepare([y], [y]) is not plan
    assert executor.prepare([y], [x], timeout_in_ms=10_000) is not plan
    assert executor.prepare([y], [x], timeout_in_ms=10_000) is executor.prepare([y], [x], timeout_in_ms=20_000)
    assert executor.compile([y], [x]) is not executor.compile([y], [x])


def test_several_feeds_are_told_apart_and_counted(executor):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    executor.extend()
    assert executor.prepare([x - y], [y, x]).call([1.0, 5.0]) == [4.0]
    with pytest.raises(ValueError):
        executor.prepare([x - y], [y, x]).call([1.0])


def test_what_is_fed_and_fetched_is_given_back_as_it_came(executor):
    x = tf.placeholder(tf.float32, [2])
    executor.extend()
    mine = np.float32([1, 2])
    found = executor.prepare([x, -x], [x]).call([mine])
    assert found[0] is mine and found[1].tolist() == [-1, -2]


@pytest.mark.parametrize(("kind", "copies"), [("", False), (CHECKED, False), (REFERENCE, True)])
def test_kinds_of_executors(graph, kind, copies):
    executor = LocalExecutor(graph, kind_of(kind))
    x = tf.constant(2.0)
    y = x * tf.placeholder_with_default(3.0, [])
    executor.extend()
    assert executor.prepare([y], []).call(()) == [6.0]
    assert isinstance(executor.compile([y], []), Interpreted) is copies
    assert executor.state.checks is (kind == CHECKED)


def test_the_environment_chooses_where_the_config_does_not(graph, monkeypatch):
    monkeypatch.setenv("EVERFLOW_EXECUTOR", CHECKED)
    assert LocalExecutor(graph, ConfigProto()).state.checks
    assert not LocalExecutor(graph, kind_of(REFERENCE)).state.checks


def test_as_it_was_drawn(executor):
    y = tf.identity(tf.constant(1.0) + tf.constant(2.0))
    executor.extend()
    plan = executor.compile([y], [], as_drawn=True)
    assert [node.type for node in plan.program.nodes] == ["Const", "Const", "AddV2", "Identity"]
    assert executor.call(plan, []) == [3.0]


def test_the_graph_is_placed_as_it_grows(executor, graph):
    tf.constant(1)
    executor.extend()
    version = executor.extended_to
    executor.extend()
    assert executor.extended_to == version == graph.version
    with tf.device("/cpu:9"):
        tf.constant(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="CPU:9"):
        executor.extend()
    assert executor.extended_to == version


def test_reset_forgets_containers_and_makes_plans_anew(executor):
    with tf.container("c"):
        variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    value = variable.read_value()
    executor.extend()
    executor.prepare([variable.initializer], []).call(())
    plan = executor.prepare([value], [])
    assert plan.call(()) == [1.0]
    executor.reset(["c"])
    executor.extend()
    assert executor.prepare([value], []) is not plan
    with pytest.raises(tf.errors.FailedPreconditionError):
        executor.prepare([value], []).call(())


def test_a_traced_run_tells_only_what_was_asked_for(executor):
    x = tf.placeholder(tf.float32, [])
    y = -x
    executor.extend()
    silent, traced, parts = tf.RunMetadata(), tf.RunMetadata(), tf.RunMetadata()
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    for options, metadata in [
        (None, silent),
        (full, traced),
        (tf.RunOptions(output_partition_graphs=True), parts),
        (full, None),
    ]:
        assert executor.run_with_options([y], {x: 2.0}, options, metadata) == [-2.0]
    assert not silent.ByteSize()
    assert traced.step_stats.dev_stats and not traced.partition_graphs and not traced.cost_graph.node
    assert parts.partition_graphs and not parts.step_stats.dev_stats


def test_functions_are_planned_once_unless_they_shall_be_fresh(executor, graph):
    from everflow.framework import functions

    with tf.Graph().as_default() as body:
        x = tf.placeholder(tf.float32, [])
        definition = functions.to_function_def(body, "f", [x], [-x])
    functions.GraphFunction(definition).add_to_graph(graph)
    call = executor.state.function("f")
    assert executor.state.function("f") is call is not executor.state.function("f", fresh=True)
    with pytest.raises(tf.errors.NotFoundError, match="Function nobody is not defined"):
        executor.state.function("nobody")


def test_runs_in_parts_have_handles(executor):
    x = tf.placeholder(tf.float32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="fetch or run something"):
        executor.partial_run_setup([], [])
    first, second = (executor.partial_run_setup([-x], [x]) for _ in range(2))
    assert first != second
    with pytest.raises(tf.errors.InvalidArgumentError, match="setup"):
        executor.partial_run("nobody", [], {})


def test_a_closed_executor_stops_what_would_wait(executor):
    queue = tf.FIFOQueue(1, tf.float32)
    taken = queue.dequeue()
    executor.extend()
    executor.close()
    with pytest.raises(tf.errors.CancelledError):
        executor.prepare([taken], []).call(())


def test_devices_may_be_those_of_a_task(graph):
    assert LocalExecutor(graph, ConfigProto(device_count={"CPU": 2})).device_names[-1].endswith("device:CPU:1")
    mine = LocalExecutor(graph, ConfigProto(), device_names=["/job:worker/replica:0/task:1/device:CPU:0"])
    assert [d.name for d in mine.list_devices()] == ["/job:worker/replica:0/task:1/device:CPU:0"]
