"""Lanes: the way between our tasks, on one machine and between machines. What arrives is what was sent, and who ends is
noticed.
"""

import socket
import threading

import numpy as np
import pytest

import everflow as tf
from everflow.cluster import lanes, wire
from everflow.cluster.values import Parcel, described, of_description, unwrap, wrap
from everflow.protos import worker_pb2

WAYS = ["network", pytest.param("local", marks=pytest.mark.skipif(not lanes.LOCAL, reason="Linux has them"))]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Tasks of this process as on one machine, or as if each were on one of its own."""
    monkeypatch.setattr(lanes, "LOCAL", request.param == "local")
    return request.param


@pytest.fixture
def peer_of(way):
    """`peer_of(address)` can be called and has a lane."""
    made = []

    def make(address):
        made.append(wire.Peer(address))
        made[-1].call("GetStatus", worker_pb2.GetStatusRequest())  # by gRPC, which tells that it is one of us
        made[-1]._look_again = 0.0
        assert made[-1].lane() is not None
        return made[-1]

    yield make
    for peer in made:
        peer.close()


VALUES = {
    "float": np.float32([[1.5, -2.0]]),
    "scalar": np.float64(3.0),
    "none": np.zeros([0, 3], np.int32),
    "bools": np.array([True, False]),
    "truth": np.array(True),
    "strings": np.array([b"a", b"", b"\x00\xff"], object),
    "complex": np.complex64([1 + 2j]),
    "turned": np.arange(6, dtype=np.int64).reshape(2, 3).T,
    "large": np.arange(200_000, dtype=np.float32),
}


def test_values_of_every_kind_come_as_they_went(cluster, way):
    tasks = cluster(ps=1, worker=1)
    fetched = {}
    with tf.device("/job:ps/task:0"):
        there = {name: tf.placeholder(tf.as_dtype(v.dtype), v.shape) for name, v in VALUES.items()}
        there = {name: (p, tf.identity(p)) for name, p in there.items()}
    with tf.device("/job:worker/task:0"):
        fetched = {name: tf.identity(sent) for name, (_, sent) in there.items()}
    with tf.Session(tasks.target("worker")) as sess:
        for _ in range(3):
            found = sess.run(fetched, {there[name][0]: v for name, v in VALUES.items()})
    for name, value in VALUES.items():
        np.testing.assert_array_equal(found[name], value)
        assert np.asarray(found[name]).shape == value.shape


def test_tasks_take_the_lane(cluster, peer_of, way):
    tasks = cluster(ps=1, worker=1)
    peer = peer_of(tasks.spec.task_address("ps", 0))
    assert peer.lane() is peer.lane()
    assert (peer.lane()._line._socket.family == socket.AF_UNIX) is (way == "local")
    assert len(peer.call("GetStatus", worker_pb2.GetStatusRequest()).device_attributes) == 1


def test_a_server_that_ends_is_noticed_at_once(cluster, peer_of):
    tasks = cluster(ps=1)
    peer = peer_of(tasks.spec.task_address("ps", 0))
    asked = peer.lane().ask(1, [_key_of(tasks.servers["ps", 0], "never")])
    tasks.stop("ps", 0)
    with pytest.raises(tf.errors.UnavailableError):
        asked.result()
    assert peer.lane() is None


def test_a_line_that_comes_while_the_server_closes_is_closed():
    """It was accepted, and its thread begins when the server has closed all lines it knew of."""
    server = lanes.LaneServer("localhost", 1, lambda *_: b"", lambda *_: None, lambda *_: None)
    server.close()
    ours, theirs = socket.socketpair()
    server._serve(theirs, b"")
    assert ours.recv(1) == b""
    ours.close()


def _key_of(server, name):
    device = server._worker.attributes[0]
    return f"{device.name};{device.incarnation:016x};{device.name};{name};0:0"


def test_a_call_ends_at_its_deadline_and_when_it_is_cancelled(cluster, peer_of):
    tasks = cluster(ps=1)
    peer = peer_of(tasks.spec.task_address("ps", 0))
    request = worker_pb2.CompleteGroupRequest(group_key=1, group_size=2, device_name=["/job:ps/task:0/device:CPU:0"])
    late = peer.start("CompleteGroup", request, timeout=0.05)
    with pytest.raises(tf.errors.DeadlineExceededError):
        peer.finish(late)
    ended = threading.Event()
    call = peer.start("CompleteGroup", request)
    call.add_done_callback(lambda _: ended.set())
    call.cancel()
    assert ended.wait(10) and call.cancelled()


def test_errors_keep_their_kind(cluster, peer_of):
    peer = peer_of(cluster(ps=1).spec.task_address("ps", 0))
    with pytest.raises(tf.errors.AbortedError, match="not found"):
        peer.call("RunGraph", worker_pb2.RunGraphRequest(session_handle="nobody"))
    old = "/job:ps/replica:0/task:0/device:CPU:0;0000000000000001;/job:ps/replica:0/task:0/device:CPU:0;v;0:0"
    with pytest.raises(tf.errors.AbortedError, match="restarted"):
        peer.lane().ask(1, [old]).result()


def _stranger(way, server):
    """A connection to a server's lanes, and the word that they want."""
    if way == "local":
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(f"\0everflow/127.0.0.1:{server._port}")
        return stranger, lanes._greeting()
    port, word = int.from_bytes(server._lanes.place[:2], "little"), server._lanes.place[2:]
    return socket.create_connection(("127.0.0.1", port)), word


def _first_byte(sock):
    try:
        return sock.recv(1)
    except ConnectionResetError:  # closed, with what was sent unread
        return b""


@pytest.mark.parametrize("knows", [False, True])
def test_noise_ends_its_own_line_only(cluster, peer_of, way, knows):
    tasks = cluster(ps=1)
    for noise in (b"GET / HTTP/1.1\r\n\r\n".ljust(48), b"\xff" * 64, b"\x01" + bytes(64)):
        stranger, word = _stranger(way, tasks.servers["ps", 0])
        with stranger:
            stranger.sendall(word * knows + noise)
            assert _first_byte(stranger) == (b"\x01" if knows else b"")
    with tf.Session(tasks.target("ps")) as sess:
        assert sess.run(tf.constant(2)) == 2
    peer = peer_of(tasks.spec.task_address("ps", 0))
    assert peer.call("GetStatus", worker_pb2.GetStatusRequest()).device_attributes


def test_where_only_grpc_comes_through_it_is_grpc(cluster, monkeypatch):
    monkeypatch.setattr(lanes, "LOCAL", False)
    tasks = cluster(ps=1)
    with socket.create_server(("127.0.0.1", 0)) as another:  # whatever it is, it is none of ours
        port = another.getsockname()[1].to_bytes(2, "little")
        for place in (b"", b"?", port + bytes(48), (1).to_bytes(2, "little") + bytes(48)):
            monkeypatch.setattr(lanes, "_WELCOME_SECONDS", 0.05)
            tasks.servers["ps", 0]._lanes.place = place
            peer = wire.Peer(tasks.spec.task_address("ps", 0))
            for _ in range(2):
                assert peer.call("GetStatus", worker_pb2.GetStatusRequest()).device_attributes
                peer._look_again = 0.0
            assert peer.is_ours and peer.lane() is None
            peer.close()


def test_lanes_between_machines_are_for_who_is_let_in_by_grpc(monkeypatch):
    monkeypatch.setattr(lanes, "LOCAL", False)
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "the right word")
    address = tf.train.Server.create_local_server().target.removeprefix("grpc://")
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "another")
    peer = wire.Peer(address)
    assert peer._ask_for_place() == b""
    peer.close()


@pytest.mark.parametrize("name", VALUES)
def test_parcels_are_what_was_wrapped(name):
    value = np.asarray(VALUES[name])
    parcel = wrap(value, tf.as_dtype(value.dtype))
    (room,) = of_description(described([parcel]), parcel.array.nbytes)
    room.array[...] = parcel.array
    np.testing.assert_array_equal(unwrap(room), value)


@pytest.mark.parametrize("description", [b"\x01\x00\xff\x00", b"\x01\x00\x01\x00" + b"\xff" * 8, b"\xff\xff\x00\x00"])
def test_descriptions_that_lie_are_refused(description):
    with pytest.raises((ValueError, TypeError)):
        of_description(description, 4)


def test_a_kept_parcel_stays_when_the_tensor_changes():
    array = np.float32([1.0])
    kept = Parcel(tf.float32, array).kept()
    array[0] = 2.0
    assert kept.array[0] == 1.0
