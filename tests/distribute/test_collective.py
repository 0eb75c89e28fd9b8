"""`MultiWorkerMirroredStrategy`: what a worker draws, as TensorFlow 1.15 does."""

import json
import threading

import pytest

import everflow as tf
from everflow.distribute import collective

Strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy
WORKERS = {"worker": ["localhost:1", "localhost:2"]}


@pytest.fixture
def task(monkeypatch):
    def place(cluster, job, index):
        config = {"cluster": cluster, "task": {"type": job, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        return Strategy()

    with tf.Graph().as_default():
        yield place


def _nodes(*types):
    return [n for n in tf.get_default_graph().as_graph_def().node if n.op in types]


def test_the_place_of_a_worker(task):
    strategy = task(WORKERS, "worker", 1)
    extended = strategy.extended
    assert strategy.num_replicas_in_sync == 2
    assert extended.worker_devices == ("/job:worker/replica:0/task:1/device:CPU:0",)
    assert extended.experimental_between_graph and extended.experimental_should_init
    assert not extended.should_checkpoint and not extended.should_save_summary
    assert repr(strategy._input_context()) == repr(tf.distribute.InputContext(2, 1, 2))
    with_chief = {"chief": ["localhost:1"], "worker": ["localhost:2"], "evaluator": ["localhost:3"]}
    assert task(with_chief, "chief", 0).extended.should_checkpoint
    assert task(with_chief, "worker", 0).extended.worker_index == 1
    evaluator = task(with_chief, "evaluator", 0)
    assert evaluator.num_replicas_in_sync == 1 and evaluator.extended.session_place()[0] == ""
    alone = task({"worker": ["localhost:1"]}, "worker", 0)
    assert alone.extended.worker_devices == ("/replica:0/task:0/device:CPU:0",)
    assert tf.estimator.RunConfig(train_distribute=alone).is_chief
    with pytest.raises(ValueError, match="no worker"):
        task(with_chief, "worker", 3)
    with pytest.raises(AssertionError, match="CollectiveCommunication"):
        Strategy("nccl")


def test_alone_it_is_this_process(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with tf.Graph().as_default():
        strategy = Strategy(tf.distribute.experimental.CollectiveCommunication.RING)
        assert strategy.num_replicas_in_sync == 1
        assert strategy.extended.worker_devices == ("/replica:0/task:0/device:CPU:0",)
        assert strategy.extended.session_place()[0] == ""
        with strategy.scope():
            total = strategy.reduce("SUM", strategy.experimental_run_v2(lambda: tf.constant(2.0)), axis=None)
        with tf.Session() as sess:
            assert sess.run(total) == 2.0
    assert tf.contrib.distribute.CollectiveAllReduceStrategy().num_replicas_in_sync == 1


def test_the_settings_of_sessions(task):
    made = task(WORKERS, "worker", 1).update_config_proto(tf.ConfigProto(device_filters=["/job:x"]))
    assert list(made.device_filters) == ["/job:worker/task:1"]
    assert made.experimental.collective_group_leader == "/job:worker/replica:0/task:0"
    assert list(made.graph_options.rewrite_options.scoped_allocator_opts.enable_op) == ["CollectiveReduce"]


@pytest.mark.parametrize(("index", "op"), [(0, "CollectiveBcastSend"), (1, "CollectiveBcastRecv")])
def test_first_values_are_the_chiefs(task, index, op):
    strategy = task(WORKERS, "worker", index)
    with strategy.scope():
        v = tf.Variable([[2.0], [3.0]], name="v")
        tf.get_variable("w", [3])
    first, second = _nodes(op)
    assert [first.name, second.name] == [f"v/Initializer/{op}", f"w/Initializer/{op}"]
    assert (first.attr["instance_key"].i, second.attr["instance_key"].i) == (1000000, 1000001)
    assert (first.attr["group_key"].i, first.attr["group_size"].i) == (1, 2)
    assert first.device == f"/job:worker/replica:0/task:{index}/device:CPU:0"
    assign = tf.get_default_graph().get_operation_by_name("v/Assign")
    assert assign.inputs[1].op.name == ("v/Initializer/CollectiveBcastRecv" if index else "v/Initializer/Identity")
    assert type(v).__name__ == "MirroredVariable"


def test_gradients_are_reduced_and_rows_gathered(task):
    strategy = task(WORKERS, "worker", 1)
    first = collective._instance_key() + 1
    with strategy.scope():
        v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable([[2.0], [3.0]], name="w")

        def step():
            loss = tf.reduce_sum(v) + tf.reduce_sum(tf.nn.embedding_lookup(w, [0, 1]))
            tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
            return loss

        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.experimental_run_v2(step), axis=None)
    nodes = _nodes("CollectiveReduce", "CollectiveGather")
    assert [n.name for n in nodes] == [
        "allreduce/CollectiveReduce",
        "allreduce/CollectiveGather",
        "allreduce/CollectiveGather_1",
        "allreduce_1/CollectiveReduce",
    ]
    assert [n.attr["instance_key"].i for n in nodes] == list(range(first, first + 4))
    assert nodes[0].attr["merge_op"].s == b"Add" and nodes[0].attr["final_op"].s == b"Id"
    assert mean.op.type == "Identity" and mean.op.inputs[0].op.type == "RealDiv"


def test_what_replicas_write_is_put_together(task):
    strategy = task(WORKERS, "worker", 1)
    with strategy.scope():
        kept = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN, name="kept")
        counted = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            name="counted",
        )

        def step():
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            kept.assign(tf.constant(5.0))
            counted.assign_add(2.0)
            return number

        number = strategy.experimental_run_v2(step)
        assert len(_nodes("CollectiveReduce")) == 1  # of `kept`
        counted.read_value()
        assert len(_nodes("CollectiveReduce")) == 2
    assert tf.get_static_value(number) == 1


def test_eager_execution_has_one_worker(task, monkeypatch):
    monkeypatch.setattr(collective, "executing_eagerly", lambda: True)
    with pytest.raises(RuntimeError, match="eager"):
        task(WORKERS, "worker", 1)


def test_workers_in_threads_of_one_process_count_alike(task):
    def keys(found):
        with tf.Graph().as_default() as graph, strategy.scope():
            strategy.reduce("SUM", strategy.experimental_run_v2(lambda: tf.constant(1.0)), axis=None)
            found.extend(n.attr["instance_key"].i for n in graph.as_graph_def().node if n.op == "CollectiveReduce")

    strategy, found = task(WORKERS, "worker", 0), []
    for _ in range(2):
        thread = threading.Thread(target=keys, args=(found,))
        thread.start()
        thread.join()
    assert found == [100, 100]
