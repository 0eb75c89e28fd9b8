"""Between-graph training on a cluster: parameter servers hold the variables, each worker draws its own copy of the graph and trains them
on its own batches. The model tells three spiral arms apart.

Without --job_name it starts every task itself, as processes on this machine. On several machines, start each task by hand:

    everflow run examples/parameter_server.py --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=ps --task_index=0

With --sync (the default) the workers go in step and their gradients are averaged; with --nosync each goes at its own pace.

Run:     everflow run examples/parameter_server.py
Expect:  an accuracy of about 0.98 after 400 steps of two workers.
"""

from __future__ import print_function

import multiprocessing
import socket
import sys

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "Comma-separated host:port of the parameter servers")
flags.DEFINE_string("worker_hosts", "", "Comma-separated host:port of the workers")
flags.DEFINE_string("job_name", "", "ps or worker; empty to start all tasks here")
flags.DEFINE_integer("task_index", 0, "Which task of the job this is")
flags.DEFINE_integer("num_ps", 2, "Parameter servers, when all tasks are started here")
flags.DEFINE_integer("num_workers", 2, "Workers, when all tasks are started here")
flags.DEFINE_integer("train_steps", 400, "Global steps of training")
flags.DEFINE_integer("batch_size", 64, "Points in a worker's batch")
flags.DEFINE_boolean("sync", True, "Whether workers go in step")
FLAGS = flags.FLAGS


def spiral(points, seed):
    """Points on three arms of a spiral, and which arm each is on."""
    random = np.random.RandomState(seed)
    arm = random.randint(3, size=points)
    radius = random.uniform(0.1, 1.0, points)
    angle = 4.0 * radius + 2.0 * np.pi / 3.0 * arm + random.normal(0.0, 0.4, points)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32), arm


def network(x):
    hidden = tf.layers.dense(
        x, 32, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1), name="hidden1"
    )
    hidden = tf.layers.dense(
        hidden, 32, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=2), name="hidden2"
    )
    return tf.layers.dense(hidden, 3, kernel_initializer=tf.glorot_uniform_initializer(seed=3), name="arms")


class WorkerCreator(tf.train.SessionCreator):
    """As tf.train.WorkerSessionCreator, but asks every second whether the chief is ready, not every thirty."""

    def __init__(self, master, config):
        self.master, self.config = master, config

    def create_session(self):
        scaffold = tf.train.Scaffold().finalize()
        manager = tf.train.SessionManager(
            local_init_op=scaffold.local_init_op,
            ready_op=scaffold.ready_op,
            recovery_wait_secs=1,
            ready_for_local_init_op=scaffold.ready_for_local_init_op,
        )
        return manager.wait_for_session(self.master, config=self.config)


def work(cluster, server, task_index):
    is_chief = task_index == 0
    workers = cluster.num_tasks("worker")
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % task_index, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.int64, [None])
        logits = network(x)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
        global_step = tf.train.get_or_create_global_step()
        adam = tf.train.AdamOptimizer(0.01)
        together = tf.train.SyncReplicasOptimizer(adam, replicas_to_aggregate=workers, total_num_replicas=workers)
        optimizer = together if FLAGS.sync else adam
        train = optimizer.minimize(loss, global_step=global_step)
    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps)]
    if FLAGS.sync:
        hooks = hooks + [together.make_session_run_hook(is_chief, num_tokens=0)]
    # A worker needs the parameter servers and itself, and doesn't wait for the others.
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task_index])
    random = np.random.RandomState(task_index)
    points, arms = spiral(3000, seed=0)
    creator = (
        tf.train.ChiefSessionCreator(master=server.target, config=config)
        if is_chief
        else WorkerCreator(server.target, config)
    )
    with tf.train.MonitoredSession(creator, hooks, stop_grace_period_secs=2) as sess:
        while not sess.should_stop():
            rows = random.randint(len(points), size=FLAGS.batch_size)
            value, step, _ = sess.run([loss, global_step, train], {x: points[rows], y: arms[rows]})
            if step % 100 == 0:
                print("worker %d at step %d: loss %.3f" % (task_index, step, value))
    if is_chief:
        # The variables outlive the session: they are the servers'.
        points, arms = spiral(1000, seed=1)
        with tf.Session(server.target, config=config) as sess:
            print("accuracy %.4f" % sess.run(accuracy, {x: points, y: arms}))
    sys.stdout.flush()


def run_task(hosts, job_name, task_index):
    cluster = tf.train.ClusterSpec(hosts)
    server = tf.train.Server(cluster, job_name=job_name, task_index=task_index)
    if job_name == "ps":
        server.join()
    else:
        work(cluster, server, task_index)


def free_hosts(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("localhost", 0))
    hosts = ["localhost:%d" % s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return hosts


def start_all():
    """A process for each task; the servers end when the workers have."""
    hosts = free_hosts(FLAGS.num_ps + FLAGS.num_workers)
    cluster = {"ps": hosts[: FLAGS.num_ps], "worker": hosts[FLAGS.num_ps :]}
    tasks = [(job, i) for job in ("ps", "worker") for i in range(len(cluster[job]))]
    processes = {task: multiprocessing.Process(target=run_task, args=(cluster,) + task) for task in tasks}
    for process in processes.values():
        process.daemon = True
        process.start()
    workers = [processes[task] for task in tasks if task[0] == "worker"]
    for process in workers:
        process.join()
    for process in processes.values():
        process.terminate()
    if any(process.exitcode for process in workers):
        sys.exit("a worker has failed")


def main(_):
    if not FLAGS.job_name:
        start_all()
    else:
        hosts = {"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")}
        run_task(hosts, FLAGS.job_name, FLAGS.task_index)


if __name__ == "__main__":
    tf.app.run()
