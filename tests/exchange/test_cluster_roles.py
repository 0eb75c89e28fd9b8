"""TensorFlow 1.15.5 and we in one cluster: whoever is chief, worker or parameter server, the losses are those of
TensorFlow alone.
"""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from everflow.cli.launch import free_addresses

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

JOBS = ("chief", "worker", "ps")
# The chief's session puts the model on the worker and the variables on the parameter server.
TASK = """
import json, os, sys
import numpy as np
tf = __import__(sys.argv[1])
cluster, job = json.loads(sys.argv[2]), sys.argv[3]
server = tf.train.Server(tf.train.ClusterSpec(cluster), job, 0)
if job != "chief":
    sys.stdin.read()
    os._exit(0)

def dense(x, size, seed, activation=None):
    return tf.layers.dense(x, size, activation, kernel_initializer=tf.glorot_uniform_initializer(seed=seed))

x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:0", ps_device="/job:ps", cluster=cluster)):
    loss = tf.losses.sparse_softmax_cross_entropy(y, dense(dense(dense(x, 16, 1, tf.nn.relu), 16, 2, tf.nn.relu), 3, 3))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
with tf.device("/job:chief/task:0"):
    shown = loss + 0.0
random, losses = np.random.RandomState(0), []
with tf.Session(server.target) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        losses.append(float(sess.run([shown, train], {x: random.randn(32, 2), y: random.randint(3, size=32)})[0]))
    losses.append(int(sess.run(step)))
print("RESULT " + json.dumps(losses))
sys.stdout.flush()
os._exit(0)
"""
# What TensorFlow's three tasks print.
ALONE = [
    1.0818815, 1.2072837, 1.0992199, 1.1096858, 1.0459890, 1.1341494, 1.1709919, 1.1299174, 1.1481935, 1.1691260, 10,
]  # fmt: skip


@pytest.mark.parametrize("roles", itertools.product(("everflow", "tensorflow"), repeat=3), ids="-".join)
def test_any_task_may_be_either(roles, tmp_path):
    script = tmp_path / "task.py"
    script.write_text(TASK)
    cluster = {job: [address] for job, address in zip(JOBS, free_addresses(3))}
    python = {"everflow": sys.executable, "tensorflow": os.environ["EVERFLOW_ORACLE"]}
    tasks = {}
    for job, module in zip(JOBS, roles):
        command = [python[module], "-W", "ignore", str(script), module, json.dumps(cluster), job]
        tasks[job] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    try:
        printed, complaints = tasks["chief"].communicate(timeout=120)
    finally:
        for task in tasks.values():
            task.kill()
            task.wait()
    found = [line for line in printed.splitlines() if line.startswith("RESULT ")]
    assert found, complaints[-2000:]
    np.testing.assert_allclose(json.loads(found[0][len("RESULT ") :]), ALONE, rtol=1e-5)
