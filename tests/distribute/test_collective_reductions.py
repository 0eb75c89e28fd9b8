"""Values of several workers' devices reduced by collective operations, as programs from inside TensorFlow do it."""

import pytest

import everflow as tf
from everflow.distribute.device_maps import ReplicaDeviceMap
from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.values import Mirrored, PerReplica
from everflow.legacy.inner.distribute.collective_reductions import CollectiveAllReduce
from everflow.legacy.inner.distribute.cross_device import sum_grad_and_var_all_reduce

DEVICES = [f"/job:worker/replica:0/task:0/device:GPU:{number}" for number in range(2)]


def value(devices, sparse=False):
    parts = []
    for name in devices:
        with tf.device(name):
            part = tf.constant([[1.0, 2.0]])
            parts.append(tf.IndexedSlices(part, tf.constant([0]), tf.constant([5, 2])) if sparse else part)
    return PerReplica(ReplicaDeviceMap(devices), parts)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_the_mean_over_workers_is_on_each_device(graph):
    given = value(DEVICES)
    mean = CollectiveAllReduce(3, 2).reduce(ReduceOp.MEAN, given, given)
    assert isinstance(mean, Mirrored) and [part.op.type for part in mean.values] == ["RealDiv"] * 2
    reductions = [op for op in graph.get_operations() if op.type == "CollectiveReduce"]
    assert [op.get_attr("group_size") for op in reductions] == [6, 6]
    assert len({op.get_attr("instance_key") for op in reductions}) == 1


def test_elsewhere_it_is_a_copy_after_all_sums(graph):
    total = CollectiveAllReduce(2, 2).reduce(ReduceOp.SUM, value(DEVICES), DEVICES[0])
    assert total.op.type == "Identity" and len(total.op.control_inputs) == 1


def test_so_many_reductions_share_a_scope(graph):
    given = [value(DEVICES[:1]) for _ in range(5)]
    reducing = CollectiveAllReduce(2, 1, all_reduce_merge_scope=2)
    made = reducing.batch_reduce(ReduceOp.SUM, [(each, each) for each in given])
    assert [part.op.name.split("/")[0] for part in made] == ["allreduce"] * 2 + ["allreduce_1"] * 2 + ["allreduce_2"]


def test_slices_are_gathered(graph):
    given = value(DEVICES[:1], sparse=True)
    (made,) = CollectiveAllReduce(2, 1).batch_reduce(ReduceOp.SUM, [(given, given)])
    assert made.values.op.type == made.indices.op.type == "CollectiveGather"


def test_one_device_alone_has_the_sum(graph):
    given = value(["/cpu:0"])
    assert CollectiveAllReduce().reduce(ReduceOp.SUM, given, given).op.type in ("Const", "Identity")
    for wrong in ((5, "/cpu:0"), (given, None)):
        with pytest.raises(ValueError):
            CollectiveAllReduce().reduce(ReduceOp.SUM, *wrong)


@pytest.mark.parametrize("algorithm, last", [("nccl", "NcclAllReduce"), ("xring", "ConcatV2")])
def test_algorithms_of_gradients(graph, algorithm, last):
    gradients = []
    for name, where in zip("ab", DEVICES, strict=True):
        with tf.device(where):
            gradients.append((tf.constant([1.0, 2.0]), name))
    made = sum_grad_and_var_all_reduce(gradients, 1, algorithm, [0, 1])
    assert [name for _, name in made] == ["a", "b"] and {total.op.type for total, _ in made} == {last}
    with pytest.raises(ValueError):  # one worker makes no ring
        sum_grad_and_var_all_reduce(gradients, 1, "nccl/xring", [0, 1])
