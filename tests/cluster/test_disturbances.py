"""A member that is stopped, connections that are slow, cut or silent, and a disk that is full: clear errors, and then it goes on."""

import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import everflow as tf
from everflow.cli.launch import free_addresses

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


class Proxy:
    """A way on loopback to another address, which can be slow, silent or cut."""

    def __init__(self, target):
        self._target = target.split(":")[0], int(target.split(":")[1])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"localhost:{self._listener.getsockname()[1]}"
        self.delay, self.is_silent, self._open = 0.0, False, []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            self._open.append((near, far))
            threading.Thread(target=self._pass_on, args=(near, far), daemon=True).start()

    def _pass_on(self, near, far):
        try:
            while True:
                for ready in select.select([near, far], [], [])[0]:
                    data = ready.recv(4096)
                    if not data:
                        return
                    time.sleep(self.delay)
                    if not self.is_silent:
                        (far if ready is near else near).sendall(data)
        except OSError:
            pass  # it was cut

    def cut(self):
        for pair in self._open:
            for end in pair:
                end.shutdown(socket.SHUT_RDWR)
        self._open = []

    def close(self):
        self._listener.close()


@pytest.fixture
def behind_proxy(monkeypatch):
    """(a proxy, the target of a worker that reaches its parameter server through it)"""
    monkeypatch.setenv("EVERFLOW_CLUSTER_TIMEOUT", "2")
    here, there = free_addresses(2)
    proxy = Proxy(there)
    ps = tf.train.Server({"ps": [there], "worker": [here]}, "ps", 0)
    worker = tf.train.Server({"ps": [proxy.address], "worker": [here]}, "worker", 0)
    yield proxy, worker.target
    for server in (worker, ps):
        server._stop()
    proxy.close()


def _product():
    with tf.device(PS):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.device(WORKER):
        return v, v * 3.0


def test_slow_cut_and_silent_connections(behind_proxy):
    proxy, target = behind_proxy
    v, y = _product()
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        proxy.delay = 0.02
        assert sess.run(y).tolist() == [3.0, 6.0]
        proxy.delay = 0.0
        proxy.cut()
        assert _sooner_or_later(sess, y) == [3.0, 6.0]  # the server has kept the session
        proxy.is_silent = True  # nothing comes, and nobody hangs up
        began = time.monotonic()
        with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
            sess.run(y)
        assert time.monotonic() - began < 60
        proxy.is_silent = False
        proxy.cut()
        assert _sooner_or_later(sess, y) == [3.0, 6.0]


def _sooner_or_later(sess, fetch):
    """A value, once the connection is up again; until then the server can't be reached."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return sess.run(fetch).tolist()
        except tf.errors.UnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


SERVER = """
import sys
import tensorflow as tf
ps, worker = sys.argv[1:]
server = tf.train.Server({"ps": [ps], "worker": [worker]}, job_name="ps", task_index=0)
print("up", flush=True)
server.join()
"""


def _stop(process):
    """Stop a process and see it stopped: until one of its threads has taken the signal, the others go on."""
    process.send_signal(signal.SIGSTOP)
    while pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)


def test_a_stopped_server_is_unavailable_until_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERFLOW_CLUSTER_TIMEOUT", "2")
    addresses = free_addresses(2)
    (tmp_path / "ps.py").write_text(SERVER)
    command = [sys.executable, "-m", "everflow", "run", str(tmp_path / "ps.py"), *addresses]
    ps = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    worker = tf.train.Server({"ps": addresses[:1], "worker": addresses[1:]}, "worker", 0)
    try:
        assert ps.stdout.readline() == "up\n"
        v, y = _product()
        with tf.Session(worker.target) as sess:
            sess.run(v.initializer)
            assert sess.run(y).tolist() == [3.0, 6.0]
            _stop(ps)
            with pytest.raises(tf.errors.UnavailableError, match="/job:ps"):
                sess.run(y)
            ps.send_signal(signal.SIGCONT)
            assert _sooner_or_later(sess, y) == [3.0, 6.0]
    finally:
        ps.kill()
        ps.communicate()
        worker._stop()


# --- a full disk ------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    """A folder that has room for half a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _train(folder, target, last_step):
    with tf.Graph().as_default():
        v = tf.get_variable("v", [5000], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        train_op = tf.group(v.assign_add(tf.ones([5000])), step.assign_add(1))
        hooks = [tf.train.StopAtStepHook(last_step=last_step)]
        with tf.train.MonitoredTrainingSession(
            target, checkpoint_dir=str(folder), save_checkpoint_steps=1, save_summaries_steps=0, hooks=hooks
        ) as session:
            while not session.should_stop():
                session.run(train_op)


def test_a_full_disk_at_the_chief(small_disk, server):
    _train(small_disk, server.target, 2)
    before = tf.train.latest_checkpoint(str(small_disk))
    filler = small_disk / "filler"
    with open(filler, "wb") as file, pytest.raises(OSError):
        while True:
            os.write(file.fileno(), b"x" * 4096)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
        _train(small_disk, server.target, 4)
    # What was saved before is whole, and no half of a file is taken for a checkpoint.
    assert tf.train.latest_checkpoint(str(small_disk)) == before
    assert tf.train.load_checkpoint(before).get_tensor("v")[0] == 2.0
    filler.unlink()
    _train(small_disk, server.target, 4)
    newest = tf.train.load_checkpoint(str(small_disk))
    assert newest.get_tensor("global_step") == 4 and newest.get_tensor("v")[-1] == 4.0


def test_members_that_do_not_come_are_named(cluster, monkeypatch):
    """A group that is not complete within the timeout ends with an error that says who came."""
    from everflow.ops.array import collectives

    monkeypatch.setenv("EVERFLOW_COLLECTIVE_TIMEOUT", "0.5")
    tasks = cluster(worker=2)
    config = tf.ConfigProto(device_filters=["/job:worker/task:1"])
    with tf.device("/job:worker/task:1/device:CPU:0"):
        total = collectives.all_reduce(tf.zeros([1]), 2, 1, 1, "Add", "Id")
    with tf.Session(tasks.target("worker", 1), config=config) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError, match="Of 2 members.*worker.*task:1.*came within 0.5 s"):
            sess.run(total)
