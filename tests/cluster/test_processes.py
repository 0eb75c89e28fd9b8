"""Tasks as processes of their own, started with `everflow run` as a user starts them; and how they end."""

import os
import signal
import subprocess
import sys

import pytest

import everflow as tf
from everflow.cli.launch import free_addresses

TASK = """
import sys
import tensorflow as tf
ps, worker, job = sys.argv[1:]
server = tf.train.Server({"ps": [ps], "worker": [worker]}, job_name=job, task_index=0)
print("up", flush=True)
server.join()
"""


@pytest.fixture
def start(tmp_path):
    """`start(*arguments)` runs the task's program and waits until it is up."""
    script = tmp_path / "task.py"
    script.write_text(TASK)
    started = []

    def run(*arguments):
        command = [sys.executable, "-m", "everflow", "run", str(script), *arguments]
        # Tests that run in the background of a shell ignore Ctrl-C, and so would what they start.
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        assert process.stdout.readline().strip() == "up", process.stderr.read()
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_two_processes_a_client_and_their_ends(start):
    addresses = free_addresses(2)
    ps, worker = start(*addresses, "ps"), start(*addresses, "worker")
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            v = tf.get_variable("v", initializer=[1.0, 2.0])
        with tf.device("/job:worker"):
            y = v * 3.0
        with tf.Session(f"grpc://{addresses[1]}") as sess:
            sess.run(v.initializer)
            assert sess.run(y).tolist() == [3.0, 6.0]
            ps.kill()
            ps.wait()
            with pytest.raises(tf.errors.UnavailableError):
                sess.run(y)
    # Ctrl-C ends a server that waits in join().
    worker.send_signal(signal.SIGINT)
    assert worker.wait(20) == -signal.SIGINT
    assert "KeyboardInterrupt" in worker.communicate()[1]


def test_no_cluster_needs_no_grpc_and_a_client_no_torch():
    program = """
import sys
import everflow as tf
tf.train.ClusterSpec({"ps": ["a:1"]})
tf.train.Server
assert "grpc" not in sys.modules and "torch" not in sys.modules
server = sys.argv[1]
x = tf.placeholder(tf.float32, [2])
with tf.Session(server) as sess:
    assert sess.run(x + 1.0, {x: [1.0, 2.0]}).tolist() == [2.0, 3.0]
assert "torch" not in sys.modules
"""
    server = tf.train.Server.create_local_server()
    done = subprocess.run([sys.executable, "-c", program, server.target], capture_output=True, text=True, timeout=60)
    server._stop()
    assert done.returncode == 0, done.stderr
