"""Collective ops between tasks: the leader brings the members of a group together, and a lost one ends the others."""

import threading

import pytest

import everflow as tf
from everflow.ops.array import collectives


class _Task(threading.Thread):
    """One worker's program: draws its graph and runs it on its own server."""

    def __init__(self, target, index, build):
        super().__init__(daemon=True)
        self._target, self._index, self._build = target, index, build
        self.result = None

    def run(self):
        config = tf.ConfigProto(device_filters=[f"/job:worker/task:{self._index}"], operation_timeout_in_ms=30_000)
        try:
            with tf.Graph().as_default(), tf.device(f"/job:worker/task:{self._index}/device:CPU:0"):
                fetches = self._build(self._index)
                with tf.Session(self._target, config=config) as sess:
                    self.result = [value.tolist() for value in sess.run(fetches)]
        except tf.errors.OpError as e:
            self.result = e


def _run(cluster, build, count=2):
    tasks = [_Task(cluster.target("worker", i), i, build) for i in range(count)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join(60)
    return [task.result for task in tasks]


def _sums(index):
    order = range(4) if index else range(3, -1, -1)  # tasks come to their tensors in orders of their own
    made = {i: collectives.all_reduce(tf.constant([1.0 * i, index]), 2, 1, 100 + i, "Add", "Div") for i in order}
    return [made[i] for i in range(4)]


def test_tasks_reduce_gather_and_broadcast(cluster):
    servers = cluster(worker=2)

    def build(index):
        rows = collectives.all_gather(tf.constant([[index]]), 2, 1, 1)
        if index:
            sent = collectives.broadcast_recv([2], tf.float32, 2, 1, 2)
        else:
            sent = collectives.broadcast_send(tf.constant([5.0, 6.0]), [2], tf.float32, 2, 1, 2)
        return [*_sums(index), rows, sent]

    wanted = [[0.0, 0.5], [1.0, 0.5], [2.0, 0.5], [3.0, 0.5], [[0], [1]], [5.0, 6.0]]
    assert _run(servers, build) == [wanted, wanted]
    assert _run(servers, _sums) == [wanted[:4]] * 2  # other sessions go on with the group


def test_unlike_tensors_are_told_to_both(cluster):
    def build(index):
        return [collectives.all_reduce(tf.zeros([index + 1]), 2, 1, 1, "Add", "Id")]

    for error in _run(cluster(worker=2), build):
        assert isinstance(error, tf.errors.InvalidArgumentError) and "Shape mismatch" in error.message


def test_a_lost_task_ends_the_others_and_comes_back(cluster):
    servers = cluster(worker=2)
    assert _run(servers, _sums)[0][0] == [0.0, 0.5]
    lost = servers.servers["worker", 1]
    alone = _Task(servers.target("worker", 0), 0, _sums)
    alone.start()
    servers.stop("worker", 1)
    alone.join(60)
    assert isinstance(alone.result, tf.errors.UnavailableError) and "lost" in alone.result.message
    servers.servers["worker", 1] = tf.train.Server(lost.server_def)
    assert _run(servers, _sums)[1][3] == [3.0, 0.5]


def test_groups_of_other_sizes_are_refused(cluster):
    def build(index):
        return [collectives.all_reduce(tf.zeros([1]), 2 + index, 1, 1, "Add", "Id")]

    servers = cluster(worker=2)
    tasks = [_Task(servers.target("worker", i), i, build) for i in range(2)]
    for task in tasks:
        task.start()
    tasks[1].join(60)
    tasks[0].join(0.5)
    with pytest.raises(tf.errors.OpError, match="members"):
        raise next(t.result for t in tasks if t.result is not None)
    servers.stop("worker", 0)
