"""Servers are closed: where they listen, TLS, a shared secret, limits, and callers that mean no good."""

import random
import shutil
import socket
import subprocess
import time

import pytest
import torch.distributed as dist

import everflow as tf
from everflow.cluster import lanes, wire
from everflow.framework import errors
from everflow.kernels.process_group import ProcessGroup, Store
from everflow.platform.trust import listening_address, trust
from everflow.protos import worker_pb2


def _sum(target, timeout_in_ms=20_000):
    config = tf.ConfigProto(operation_timeout_in_ms=timeout_in_ms)
    with tf.Graph().as_default(), tf.Session(target, config=config) as sess:
        return sess.run(tf.constant(2) + 3)


def _over_the_network(target, monkeypatch):
    """As `_sum`, by a client that has no server in its process."""
    with monkeypatch.context() as patch:
        patch.setattr(wire, "MASTERS_HERE", {})
        return _sum(target)


# --- where they listen ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "address"), [("", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.0.0.2", "127.0.0.2"), ("::1", "::1")]
)
def test_a_task_listens_where_its_cluster_says(host, address):
    assert listening_address(host) == address


def test_a_host_that_is_not_this_machine_is_refused(monkeypatch):
    with pytest.raises(tf.errors.UnknownError, match="no address of this machine.*EVERFLOW_CLUSTER_BIND"):
        tf.train.Server({"worker": ["192.0.2.1:0"]})  # an address for documents, which nobody has
    with pytest.raises(tf.errors.UnknownError, match="has no address"):
        listening_address("no-such-host.invalid")
    monkeypatch.setenv("EVERFLOW_CLUSTER_BIND", "127.0.0.1")
    server = tf.train.Server({"worker": ["192.0.2.1:0"]})
    assert server.target.startswith("grpc://192.0.2.1:")
    server._stop()


def test_other_addresses_of_the_machine_stay_closed(server):
    port = int(server.target.rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", port), timeout=5):
        pass


# --- the secret -------------------------------------------------------------------------------


def test_a_caller_without_the_secret_is_turned_away(monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "open sesame")
    server = tf.train.Server.create_local_server()
    assert _over_the_network(server.target, monkeypatch) == 5
    for wrong in ("", "open", "Öffne dich"):
        monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", wrong)
        if wrong.isascii():
            with pytest.raises(tf.errors.UnauthenticatedError, match="EVERFLOW_CLUSTER_SECRET"):
                _over_the_network(server.target, monkeypatch)
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="ASCII"):
                trust()
    server._stop()


def test_a_secret_from_a_file(monkeypatch, tmp_path):
    path = tmp_path / "secret"
    path.write_text("from a file\n")
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET_FILE", str(path))
    assert trust().secret == "from a file"
    path.write_text("\n")
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "changes what is said, so that the file is read again")
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
        trust()
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET_FILE", str(tmp_path / "none"))
    with pytest.raises(tf.errors.NotFoundError, match="can't be read"):
        trust()


def test_what_a_stranger_leaves_in_a_store_is_refused(monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "open sesame")
    kept = dist.HashStore()
    store = Store(kept, "here")
    store.tell("place", "localhost:1")
    assert store.told("place") == "localhost:1"
    kept.set("other", kept.get("place"))  # moved to another name, it is no proof any more
    for word in (b"", b"localhost:666", kept.get("place")[:-1]):
        kept.set("place", word)
        with pytest.raises(errors.PermissionDeniedError, match="EVERFLOW_CLUSTER_SECRET"):
            store.told("place")
    with pytest.raises(errors.PermissionDeniedError):
        store.told("other")


def test_gloo_takes_no_address_from_a_stranger(monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "open sesame")

    class Poisoned(dist.HashStore):
        """A store in which somebody writes faster than the second process."""

        def get(self, key):
            return b"\0" * 200

        def wait(self, keys, timeout=None):
            pass

    with pytest.raises(errors.PermissionDeniedError):
        ProcessGroup(Store(Poisoned(), "here"), 0, 2)


# --- TLS --------------------------------------------------------------------------------------


def _openssl(*words, folder):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def _certificates(folder, name):
    """An authority of that name, and a certificate for localhost that it has signed."""
    folder = folder / name
    folder.mkdir()
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", f"/CN={name}"]
    _openssl("req", "-x509", *key, *subject, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", folder=folder)
    _openssl("req", *key, "-subj", "/CN=localhost", "-keyout", "task.key", "-out", "task.csr", folder=folder)
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    _openssl("x509", "-req", "-in", "task.csr", *signing, "-out", "task.pem", folder=folder)
    return {
        "EVERFLOW_CLUSTER_CERTIFICATE": str(folder / "task.pem"),
        "EVERFLOW_CLUSTER_KEY": str(folder / "task.key"),
        "EVERFLOW_CLUSTER_AUTHORITY": str(folder / "ca.pem"),
    }


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_tasks_with_certificates_talk_and_strangers_do_not(monkeypatch, tmp_path, cluster):
    ours, theirs = _certificates(tmp_path, "ours"), _certificates(tmp_path, "theirs")
    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    tasks = cluster(ps=1, worker=1)
    with tf.device("/job:ps"):
        v = tf.get_variable("v", initializer=2.0)
    with tf.device("/job:worker"):
        y = v * 3.0
    with tf.Session(tasks.target("worker")) as sess:
        sess.run(v.initializer)
        assert sess.run(y) == 6.0
    with pytest.raises(tf.errors.FailedPreconditionError, match="has no TLS.*PLAIN_COLLECTIVES"):
        ProcessGroup(Store(dist.HashStore(), "here"), 0, 2, "192.0.2.1")
    monkeypatch.setattr(wire, "_GREETING_SECONDS", 0.2)
    target = f"grpc://{tasks.spec.task_address('worker', 0)}"
    mixed = {**theirs, "EVERFLOW_CLUSTER_AUTHORITY": ours["EVERFLOW_CLUSTER_AUTHORITY"]}
    named = {**ours, "EVERFLOW_CLUSTER_SERVER_NAME": "elsewhere"}
    for strangers, reason in (
        (theirs, "doesn't fit EVERFLOW_CLUSTER_AUTHORITY"),
        (dict.fromkeys(ours, ""), "speaks TLS, and this process has no certificate"),
        (mixed, "refuses the certificate of this process"),
        (named, "doesn't fit EVERFLOW_CLUSTER_SERVER_NAME"),
    ):
        for name, value in strangers.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(tf.errors.FailedPreconditionError, match=reason):
            _sum(target, 0)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_tls_with_a_server_that_has_none_is_an_error_and_no_waiting(monkeypatch, tmp_path, server):
    for name, value in _certificates(tmp_path, "ours").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wire, "_GREETING_SECONDS", 0.2)
    with pytest.raises(tf.errors.FailedPreconditionError, match="doesn't speak TLS"):
        _sum(server.target, 0)
    with pytest.raises(tf.errors.DeadlineExceededError):  # nobody is there: that may change
        _sum("grpc://localhost:1", 1000)


def test_half_of_what_tls_needs_is_refused(monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_KEY", __file__)
    with pytest.raises(tf.errors.InvalidArgumentError, match="EVERFLOW_CLUSTER_CERTIFICATE"):
        tf.train.Server.create_local_server()
    monkeypatch.setenv("EVERFLOW_CLUSTER_CERTIFICATE", __file__)
    monkeypatch.setenv("EVERFLOW_CLUSTER_AUTHORITY", "/none")
    with pytest.raises(tf.errors.NotFoundError, match="AUTHORITY"):
        trust()


# --- limits, and callers that mean no good ----------------------------------------------------


def test_a_message_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_MESSAGE_LIMIT", "100000")
    server = tf.train.Server.create_local_server()
    x = tf.placeholder(tf.float32, [None])
    monkeypatch.setattr(wire, "MASTERS_HERE", {})
    with tf.Session(server.target) as sess:
        assert sess.run(tf.reduce_sum(x), {x: [1.0] * 100}) == 100.0
        with pytest.raises(tf.errors.ResourceExhaustedError, match="larger than max"):
            sess.run(tf.reduce_sum(x), {x: [1.0] * 100_000})
        assert sess.run(tf.reduce_sum(x), {x: [1.0]}) == 1.0
    server._stop()
    monkeypatch.setenv("EVERFLOW_CLUSTER_MESSAGE_LIMIT", "much")
    with pytest.raises(tf.errors.InvalidArgumentError, match="much"):
        trust()


def _frame(kind, stream, payload, flags=0, length=None):
    length = len(payload) if length is None else length
    return length.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def _nuisances():
    chance = random.Random(0)
    yield "random bytes", chance.randbytes(5000)
    yield "another protocol", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "nothing at all", b""
    yield "half a greeting", _HELLO[:10]
    yield "a greeting and random frames", _HELLO + _frame(4, 0, b"") + chance.randbytes(3000)
    yield "a frame that claims 16 MB", _HELLO + _frame(4, 0, b"") + _frame(0, 1, b"x" * 100, length=(1 << 24) - 1)
    yield "headers without end", _HELLO + _frame(4, 0, b"") + _frame(1, 1, b"\x83" * 5000)


def test_nuisances_hurt_nobody(server, monkeypatch):
    place = ("127.0.0.1", int(server.target.rpartition(":")[2]))
    held = []
    for _, sent in list(_nuisances()) * 10:  # and none of them hangs up
        held.append(socket.create_connection(place, timeout=5))
        held[-1].sendall(sent)
    slow = held[: len(list(_nuisances()))]
    for byte in _HELLO[:3]:  # a byte now and then
        for connection in slow:
            try:
                connection.send(bytes([byte]))
            except OSError:
                pass  # it was shown the door
        assert _over_the_network(server.target, monkeypatch) == 5
        time.sleep(0.05)
    for connection in held:
        connection.close()
    assert _over_the_network(server.target, monkeypatch) == 5


def test_requests_of_random_bytes_are_refused(server):
    import grpc

    chance = random.Random(1)
    with grpc.insecure_channel(server.target.removeprefix("grpc://")) as channel:
        for service, method in [("Master", "CreateSession"), ("Worker", "RegisterGraph"), ("Worker", "RunGraph")]:
            call = channel.unary_unary(f"/tensorflow.{service}Service/{method}")  # bytes as they are
            for size in (1, 10, 1000):
                with pytest.raises(grpc.RpcError) as caught:
                    call(b"\xff" + chance.randbytes(size), timeout=20)
                assert caught.value.code() is not grpc.StatusCode.DEADLINE_EXCEEDED
    assert _sum(server.target) == 5


# --- silence ----------------------------------------------------------------------------------


def test_a_server_that_falls_silent_is_unavailable(monkeypatch):
    """A connection that stays open, and on which nothing comes any more, as after a cut cable."""
    monkeypatch.setenv("EVERFLOW_CLUSTER_TIMEOUT", "2")
    from everflow.cluster import wire
    from everflow.protos import worker_pb2

    with socket.create_server(("127.0.0.1", 0)) as mute:
        peer = wire.Peer(f"127.0.0.1:{mute.getsockname()[1]}")
        call = peer.start("GetStatus", worker_pb2.GetStatusRequest())
        connection, _ = mute.accept()
        connection.sendall(_frame(4, 0, b""))  # it did say hello
        with pytest.raises(tf.errors.UnavailableError):
            peer.finish(call)
        connection.close()
        peer.close()


def test_a_launched_cluster_has_a_secret_of_its_own(monkeypatch):
    from everflow.cli.launch import plan_tasks

    monkeypatch.delenv("EVERFLOW_CLUSTER_SECRET", raising=False)
    first, second = plan_tasks(2)
    assert first.environment["EVERFLOW_CLUSTER_SECRET"] == second.environment["EVERFLOW_CLUSTER_SECRET"]
    assert len(first.environment["EVERFLOW_CLUSTER_SECRET"]) >= 32
    assert plan_tasks(1)[0].environment["EVERFLOW_CLUSTER_SECRET"] != first.environment["EVERFLOW_CLUSTER_SECRET"]
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "mine")
    assert "EVERFLOW_CLUSTER_SECRET" not in plan_tasks(1)[0].environment


@pytest.mark.skipif(not lanes.LOCAL, reason="no lanes on this system")
@pytest.mark.parametrize("says, is_heard", [("the right word", True), ("another", False), ("", False)])
def test_lanes_want_the_secret_too(monkeypatch, says, is_heard):
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", "the right word")
    port = tf.train.Server.create_local_server().target.rpartition(":")[2]
    monkeypatch.setenv("EVERFLOW_CLUSTER_SECRET", says)
    lane = lanes.connect(f"localhost:{port}")
    assert (lane is not None) is is_heard
    if is_heard:
        call = lane.start("GetStatus", worker_pb2.GetStatusRequest(), worker_pb2.GetStatusResponse, 10.0)
        assert call.result().device_attributes


@pytest.mark.skipif(not lanes.LOCAL, reason="no lanes on this system")
def test_lanes_refuse_long_messages_and_say_so(monkeypatch):
    server = tf.train.Server.create_local_server()
    monkeypatch.setenv("EVERFLOW_CLUSTER_MESSAGE_LIMIT", "10")
    lane = lanes.connect(server.target.removeprefix("grpc://"))
    with pytest.raises(tf.errors.UnavailableError, match="EVERFLOW_CLUSTER_MESSAGE_LIMIT allows 10"):
        lane.start("GetStatus", worker_pb2.GetStatusRequest(), worker_pb2.GetStatusResponse, 10.0).result()
