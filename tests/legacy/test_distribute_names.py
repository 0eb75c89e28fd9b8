"""Inner modules of TensorFlow's `python.distribute` that programs and tests import: clusters, coordinators, reductions, input."""

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.distribute.device_maps import ReplicaDeviceMap
from everflow.distribute.values import DistributedValues, PerReplica
from everflow.eager.mode import eager_mode
from everflow.legacy.inner.distribute import (
    coordinator,
    cross_device,
    input_library,
    input_operations,
    keras_training,
    multi_worker,
    numpy_input,
    reductions,
    shared_variables,
    strategy_names,
    synthetic_digits,
)
from everflow.legacy.inner.distribute.worker_contexts import get_current_worker_context

CLUSTER = {"chief": ["c:1"], "worker": ["w0:1", "w1:1"], "ps": ["p:1"], "evaluator": ["e:1"]}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_a_task_in_its_cluster():
    assert [multi_worker.is_chief(CLUSTER, *task) for task in (("chief", 0), ("worker", 0), ("evaluator", 0))] == [
        1,
        0,
        1,
    ]
    assert multi_worker.is_chief({"worker": ["a", "b"]}, "worker", 0)
    assert multi_worker.worker_count(CLUSTER, "worker") == 3 and multi_worker.id_in_cluster(CLUSTER, "worker", 1) == 2
    assert multi_worker.collective_leader(CLUSTER, "worker", 0) == "/job:chief/replica:0/task:0"
    assert multi_worker.collective_leader(CLUSTER, "evaluator", 0) == ""
    for bad in (("worker", 5), ("master", 0), (None, 0)):
        with pytest.raises(ValueError):
            multi_worker.id_in_cluster(CLUSTER, *bad)
    with pytest.raises(ValueError, match="one 'chief'"):
        multi_worker.is_chief({"chief": ["a", "b"]}, "chief", 0)


class _Strategy:
    def __init__(self, between):
        self.extended = self
        self.experimental_between_graph = between

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        self.experimental_should_init = task_id == 0


def test_one_client_runs_all_workers():
    seen, lock = [], threading.Lock()

    def work(_):
        context = get_current_worker_context()
        context.wait_for_other_workers()
        with lock:
            seen.append((context.task_type, context.task_id, context.is_chief, context.master_target))

    evaluated = []
    coordinator.run_distribute_coordinator(
        work,
        _Strategy(True),
        eval_fn=lambda _: evaluated.append(get_current_worker_context().task_type),
        eval_strategy=_Strategy(True),
        cluster_spec=CLUSTER,
    )
    assert sorted(seen) == [
        ("chief", 0, True, "grpc://c:1"),
        ("worker", 0, False, "grpc://w0:1"),
        ("worker", 1, False, "grpc://w1:1"),
    ]
    assert evaluated == ["evaluator"] and get_current_worker_context() is None

    def fail(_):
        raise KeyError("of a worker")

    with pytest.raises(KeyError):
        coordinator.run_distribute_coordinator(fail, _Strategy(True), cluster_spec={"worker": ["a:1"]})


def test_every_process_runs_its_own_task(monkeypatch):
    joined = []

    class Server:
        def join(self):
            joined.append(True)

    monkeypatch.setattr(coordinator, "_run_std_server", lambda **_: Server())
    own = {"mode": coordinator.CoordinatorMode.INDEPENDENT_WORKER, "cluster_spec": CLUSTER}
    run = coordinator.run_distribute_coordinator
    assert run(lambda _: 5, _Strategy(True), **own, task_type="worker", task_id=1) == 5 and not joined
    assert run(lambda _: 5, _Strategy(True), **own, task_type="ps", task_id=0) is None and joined
    with pytest.raises(ValueError, match="task_type"):
        run(lambda _: 5, _Strategy(True), **own)


def test_gradients_of_devices():
    assert cross_device.extract_ranges([1, 2, 3, 5, 7, 8]) == ([[1, 3], [7, 8]], [5])
    assert cross_device.group_device_names(["a", "b", "c"], 2) == [["a", "c"], ["b", "a"]]
    keys = cross_device.CollectiveKeys()
    assert keys.get_group_key(["CPU:0", "GPU:0"]) == keys.get_group_key(["/task:1/gpu:0", "/task:1/cpu:0"]) == 1
    first = keys.get_op_instance_key()  # a thread counts on, whichever object it asks
    assert first >= 100 and cross_device.CollectiveKeys().get_op_instance_key() == first + 1
    assert keys.get_variable_instance_key() >= 10**6
    pairs = [[(tf.constant([float(i + j)]), f"v{j}") for j in range(3)] for i in range(2)]
    packed, how = cross_device.pack_small_tensors(pairs, max_bytes=100, max_group=10)
    assert len(packed[0]) == 1
    again = cross_device.unpack_small_tensors(packed, how)
    with tf.Session() as sess:
        assert sess.run([g for g, _ in again[1]]) == [[1.0], [2.0], [3.0]] and [v for _, v in again[1]] == [
            "v0",
            "v1",
            "v2",
        ]
    sums = cross_device.aggregate_gradients_using_hierarchical_copy(["/cpu:0", "/cpu:0"], pairs)
    with tf.Session() as sess:
        assert sess.run(sums[1][2][0]).tolist() == [5.0]


def test_destinations():
    value = PerReplica(ReplicaDeviceMap(["/cpu:0"]), (tf.constant(1.0),))
    assert reductions.get_devices_from("/cpu:0") == value.devices and reductions._devices_match(value, "/cpu:0")
    for bad in ("", [], 3):
        with pytest.raises(ValueError):
            reductions.validate_destinations(bad)
    assert reductions._validate_value_destination_pairs([(value, "/cpu:0")])
    assert isinstance(reductions.choose_the_best(["/cpu:0"]), tf.distribute.ReductionToOneDevice)


def test_variables_that_replicas_share():
    store = {}
    made = []
    for number in range(2):
        with tf.variable_creator_scope(shared_variables.make_fn(store, number)):
            made.append([tf.Variable(1.0, name="v"), tf.Variable(2.0, name="v")])
    assert made[0][0] is made[1][0] and made[0][1] is made[1][1] and made[0][0] is not made[0][1]


def test_input_of_workers():
    strategy = strategy_names.MirroredStrategyV1(["/cpu:0"])
    workers = input_library.InputWorkers(ReplicaDeviceMap(["/cpu:0"]), [("/cpu:0", ["/cpu:0"])])
    iterator = input_library.DatasetIterator(tf.data.Dataset.range(4).batch(4), workers, strategy, split_batch_by=2)
    calls = input_library.InputFunctionIterator(lambda _: lambda: tf.constant(7), workers, [None], strategy)
    with tf.Session() as sess:
        sess.run(iterator.initialize())
        element = iterator.get_next()
        assert [sess.run(element).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        assert sess.run(calls.get_next()) == 7 and iterator.output_types is tf.int64
        kept = numpy_input.one_host_numpy_dataset([np.arange(3)], numpy_input.SingleDevice("/cpu:0"), sess)
        rows = tf.data.make_initializable_iterator(kept)
        sess.run(rows.initializer)
        assert sess.run(rows.get_next()) == (0,)
    with eager_mode():
        dataset = input_library.get_distributed_dataset(tf.data.Dataset.range(3), workers, strategy)
        assert [x.numpy() for x in dataset] == [0, 1, 2]


def test_checks_of_keras_under_strategies():
    with pytest.raises(ValueError, match="learning rate"):
        keras_training.validate_callbacks(
            [tf.keras.callbacks.LearningRateScheduler(float)], tf.train.GradientDescentOptimizer(0.1)
        )
    with pytest.raises(ValueError, match="iterators"):
        keras_training.validate_inputs(tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)), None)
    one, other, row = tf.constant([[1]]), tf.constant([[1.0]]), tf.constant([[1, 2]])
    devices = ReplicaDeviceMap(("/cpu:0", "/cpu:1"))
    mirrored = tf.distribute.MirroredStrategy(["/cpu:0"])
    for unlike, match in ((other, "dtype"), (row, "shape")):
        with pytest.raises(ValueError, match=match):
            keras_training.validate_per_replica_inputs(mirrored, DistributedValues(devices, (one, unlike)))
    assert keras_training.validate_per_replica_inputs(mirrored, {"a": one, "b": other}) == [one, other]
    assert not keras_training.is_dataset_shape_fully_defined(tf.data.Dataset.range(3).batch(2))
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert keras_training.process_batch_and_step_size(strategy, np.ones((64, 2)), 16, None, "train") == (16, 4)


def test_digits_by_chance_for_tests_of_workers():
    with eager_mode():
        trained, evaluated = synthetic_digits.mnist_synthetic_dataset(16, 4)
        for dataset in (trained, evaluated):
            images, labels = next(iter(dataset))
            assert (images.shape, labels.shape, labels.dtype) == ([64, 28, 28, 1], [64, 1], tf.int32)
        model = synthetic_digits.get_mnist_model((28, 28, 1))
        history = model.fit(trained.take(3), epochs=3, verbose=0).history["loss"]
        assert model.output_shape == (None, 10) and history[-1] < history[0]


def test_a_dataset_made_again_and_one_shared_out(tmp_path):
    for i in range(4):
        (tmp_path / f"part{i}").write_text(f"a{i}\nb{i}\n")
    with tf.Graph().as_default() as graph:
        dataset = tf.data.TextLineDataset([str(tmp_path / f"part{i}") for i in range(4)])
        clone = input_operations._clone_dataset(dataset.batch(2))
        assert [op.name for op in graph.get_operations()][-2:] == ["FlatMapDataset_1", "BatchDatasetV2_1"]
        line = tf.data.make_one_shot_iterator(input_operations.auto_shard_dataset(dataset, 4, 2)).get_next()
        lines = tf.data.make_one_shot_iterator(clone).get_next()
        whole = tf.data.Options()
        whole.experimental_distribute.auto_shard = False
        untouched = dataset.with_options(whole)
        assert input_operations.auto_shard_dataset(untouched, 4, 2) is untouched
        with tf.Session() as session:
            assert [session.run(line) for _ in range(2)] == [b"a2", b"b2"]
            assert session.run(lines).tolist() == [b"a0", b"b0"]
