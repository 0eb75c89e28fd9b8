"""TensorFlow 1.15.5's sessions on our servers, and ours on its: the same program gives the same on both."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

import everflow as tf

pytestmark = pytest.mark.oracle

# What a client does with a server; it prints a line of JSON.
CLIENT = """
import json, sys
import numpy as np
import {module} as tf

found = []

def note(call):
    try:
        value = call()
    except tf.errors.OpError as e:
        value = [type(e).__name__, e.op.name if e.op is not None else None]
    if isinstance(value, bytes):
        value = value.decode()
    found.append(np.asarray(value).tolist() if not isinstance(value, (list, str)) else value)

v = tf.get_variable("v", initializer=[1.0, 2.0])
x = tf.placeholder(tf.float32, [None], name="x")
y = v * x
text = tf.placeholder(tf.string, name="text")
joined = tf.string_join([text, "!"])
queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
taken, put = queue.dequeue(), queue.enqueue(3)
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(y * y))
with tf.Session("{target}") as sess:
    sess.run(tf.global_variables_initializer())
    note(lambda: sess.run(y, {{x: [3.0, 4.0]}}))
    note(lambda: sess.run(joined, {{text: "a"}}))
    for _ in range(3):
        sess.run(train, {{x: [1.0, 2.0]}})
    note(lambda: np.round(np.float64(sess.run(v)), 5))
    bad = tf.reshape(x, [7], name="bad")
    note(lambda: sess.run(bad, {{x: [1.0, 2.0]}}))
    note(lambda: sess.run(taken, options=tf.RunOptions(timeout_in_ms=200)))
    sess.run(put)
    note(lambda: sess.run(taken))
    note(lambda: sess.make_callable(y, [x])([1.0, 1.0]).shape)
    handle = sess.partial_run_setup([y, joined], [x, text])
    note(lambda: np.round(np.float64(sess.partial_run(handle, y, {{x: [1.0, 1.0]}})), 5))
    note(lambda: sess.partial_run(handle, joined, {{text: "z"}}))
    note(lambda: sess.run(tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])))
    note(lambda: sess.run(tf.constant([True, False])))
    note(lambda: [d.device_type for d in sess.list_devices() if d.device_type == "CPU"])
tf.Session.reset("{target}")
with tf.Session("{target}") as sess:
    note(lambda: sess.run(tf.report_uninitialized_variables([v])).shape)
print(json.dumps(found))
"""
SERVER = """
import sys
import tensorflow as tf
server = tf.train.Server.create_local_server()
print(server.target, flush=True)
sys.stdin.read()
"""
EXPECTED = [
    [3.0, 8.0], "a!", [0.70159, 1.70062], ["InvalidArgumentError", "bad"], ["DeadlineExceededError", None], 3, [2], [0.70159, 1.70062],
    "z!", 5, [True, False], ["CPU"], [1],
]  # fmt: skip


def told(printed):
    found = json.loads(printed.strip().splitlines()[-1])
    found[4][1] = None  # whether the deadline is noticed here or there, it may name the op
    return found


def test_their_session_on_our_server(oracle):
    server = tf.train.Server.create_local_server()
    assert told(oracle(CLIENT.format(module="tensorflow", target=server.target))) == EXPECTED
    server._stop()


@contextlib.contextmanager
def their_server(folder):
    """The target of a server of TensorFlow's."""
    script = folder / "server.py"
    script.write_text(SERVER)
    command = [os.environ["EVERFLOW_ORACLE"], "-W", "ignore", str(script)]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        yield server.stdout.readline().strip()
        server.stdin.close()


def our_client(program):
    """What a program of ours prints, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_our_session_on_their_server(tmp_path):
    with their_server(tmp_path) as target:
        assert told(our_client(CLIENT.format(module="everflow", target=target))) == EXPECTED
