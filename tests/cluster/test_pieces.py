"""Large values between two of our tasks that have no lane: in pieces, by a ticket."""

import numpy as np
import pytest

import everflow as tf
from everflow.cluster import lanes, values, wire
from everflow.framework import errors


@pytest.fixture
def taken(monkeypatch):
    """The sizes of what was taken in pieces, where there are no lanes."""
    monkeypatch.setattr(lanes, "LOCAL", False)
    monkeypatch.setattr(lanes, "NETWORK", False)
    sizes, take = [], wire.Peer.take

    def noting(self, ticket):
        found = take(self, ticket)
        sizes.append(sum(parcel.array.nbytes for parcel in found))
        return found

    monkeypatch.setattr(wire.Peer, "take", noting)
    return sizes


def test_large_values_come_whole(cluster, taken):
    tasks = cluster(ps=1, worker=1)
    given = [
        np.random.RandomState(0).randn(700, 1000).astype("f"), np.arange(3), np.zeros([0, 5], "f"),
        np.array([b"a" * 2_000_000, b"", b"b"], object), np.arange(2_000_001) % 3 == 0,
    ]  # fmt: skip
    with tf.device("/job:ps"):
        there = [tf.Variable(value) for value in given]
    with tf.device("/job:worker"):
        here = [tf.identity(v) for v in there]
    with tf.Session(tasks.target("worker")) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            for found, value in zip(sess.run(here), given):
                np.testing.assert_array_equal(found, value)
        assert sess.run(here[1]).tolist() == [0, 1, 2]
    assert taken and all(size > 1 << 20 for size in taken)
    assert not tasks.servers["ps", 0]._worker._waiting


def test_a_value_beyond_the_limit_is_refused(cluster, taken, monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_MESSAGE_LIMIT", "3000000")
    tasks = cluster(ps=1, worker=1)
    with tf.device("/job:ps"):
        x = tf.zeros([tf.placeholder_with_default(1_000_000, [])])
    with tf.device("/job:worker"):
        y = tf.reduce_sum(tf.identity(x))
    with tf.Session(tasks.target("worker")) as sess, pytest.raises(tf.errors.ResourceExhaustedError, match="LIMIT"):
        sess.run(y)


def test_a_ticket_is_good_once(server):
    peer = wire.Peer(server.target.removeprefix("grpc://"))
    description = values.described([values.Parcel(tf.float32, np.zeros([2], "f"))])
    with pytest.raises(errors.AbortedError, match="nothing for that ticket"):
        peer.take(bytes(8) + description)
    peer.close()


@pytest.mark.parametrize("sent", [[], [b"1234"], [b"12345678", b"9"], [b"123456789"]])
def test_too_little_and_too_much_is_data_loss(sent):
    parcels = values.of_description(values.described([values.Parcel(tf.float32, np.zeros([2], "f"))]), 8)
    with pytest.raises(errors.DataLossError):
        values.fill(parcels, sent)


def test_pieces_fill_what_was_described():
    given = [np.arange(10, dtype=np.int64), np.zeros([0], "f"), np.random.rand(300, 1001), np.float32(2.0)]
    parcels = [values.wrap(np.asarray(a), tf.as_dtype(np.asarray(a).dtype)) for a in given]
    room = values.of_description(values.described(parcels), sum(p.array.nbytes for p in parcels))
    values.fill(room, values.pieces(parcels))
    for parcel, array in zip(room, given):
        np.testing.assert_array_equal(parcel.array, array)
