"""Eager programs of TensorFlow 1.15.5 on our servers, and ours on its: the same program gives the same on both."""

import json

import pytest

import everflow as tf
from tests.exchange.test_clusters import our_client, their_server

pytestmark = pytest.mark.oracle

# What an eager program does on another task; it prints a line of JSON.
CLIENT = """
import json
import numpy as np
import {module} as tf

tf.enable_eager_execution()
tf.config.experimental_connect_to_host("{target}".replace("grpc://", ""))
found = []

def note(call):
    try:
        value = call()
    except tf.errors.OpError as e:
        value = [type(e).__name__, e.message.splitlines()[0].replace(" [Op:MatMul]", "")]
    value = value.numpy() if hasattr(value, "numpy") else value
    value = value.decode() if isinstance(value, bytes) else value
    found.append(value if isinstance(value, (list, str)) else np.asarray(value).tolist())

note(lambda: [d.name for d in tf.config.experimental.list_logical_devices("CPU")])
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.device("/job:worker/task:0"):
    y = tf.matmul(x, x)
    v = tf.Variable([1.0, 2.0])
note(lambda: y.device)
note(lambda: y)
note(lambda: y + 1.0)
v.assign_add([1.0, 1.0])
note(lambda: v.device)
note(lambda: v.numpy())

@tf.function
def double(t):
    return tf.cond(tf.reduce_sum(t) > 0.0, lambda: t * v, lambda: t)

with tf.device("/job:worker/task:0"):
    note(lambda: double(tf.constant([1.0, 3.0])))
    note(lambda: tf.strings.join(["a", tf.constant("b")]))
    note(lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])))
    note(lambda: tf.split(tf.range(4), 2)[1])
    queue = tf.queue.FIFOQueue(3, [tf.int32], shapes=[[]])
    queue.enqueue(5)
    note(lambda: queue.dequeue())
    note(lambda: [int(n) for n in tf.data.Dataset.range(3).map(lambda n: n * 2)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(double(v) * v)
    note(lambda: tape.gradient(loss, v))
optimizer = tf.train.AdamOptimizer(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
note(lambda: np.round(np.float64(v.numpy()), 5))
print(json.dumps(found))
"""
TASK = "/job:worker/replica:0/task:0/device:CPU:0"
EXPECTED = [
    ["/job:localhost/replica:0/task:0/device:CPU:0", TASK], TASK, [[7.0, 10.0], [15.0, 22.0]], [[8.0, 11.0], [16.0, 23.0]], TASK,
    [2.0, 3.0], [2.0, 9.0], "ab", ["InvalidArgumentError", "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"], [2, 3], 5, [0, 2, 4],
    [12.0, 27.0], [1.70062, 2.70038],
]  # fmt: skip


def told(printed):
    return json.loads(printed.strip().splitlines()[-1])


def test_their_program_on_our_server(oracle):
    server = tf.train.Server.create_local_server()
    assert told(oracle(CLIENT.format(module="tensorflow", target=server.target))) == EXPECTED
    server._stop()


def test_our_program_on_their_server(tmp_path):
    with their_server(tmp_path) as target:
        assert told(our_client(CLIENT.format(module="everflow", target=target))) == EXPECTED


def test_our_program_on_our_server():
    server = tf.train.Server.create_local_server()
    assert told(our_client(CLIENT.format(module="everflow", target=server.target))) == EXPECTED
    server._stop()
