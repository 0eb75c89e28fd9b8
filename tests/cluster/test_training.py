"""Several workers that train one model: asynchronously, in step with each other, and with a chief they wait for."""

import contextlib
import threading

import numpy as np
import pytest

import everflow as tf

X = np.linspace(-1, 1, 8).reshape(8, 1)
Y = 3 * X + 0.5


def model(spec, task):
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=spec)):
        x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        return x, y, w, b, loss, tf.train.get_or_create_global_step()


def in_threads(work, count):
    """Run `work(task)` for each task at once; an error of one is raised."""
    failed = []

    def run(task):
        try:
            with tf.Graph().as_default():
                work(task)
        except BaseException as e:  # raised below
            failed.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in reversed(range(count))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    if failed:
        raise failed[0]
    assert not any(t.is_alive() for t in threads)


def test_asynchronous_training_on_two_parameter_servers(cluster, tmp_path):
    tasks = cluster(ps=2, worker=2)
    losses = {}

    def work(task):
        x, y, _, _, loss, step = model(tasks.spec, task)
        train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=step)
        config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])
        with tf.train.MonitoredTrainingSession(
            master=tasks.target("worker", task), is_chief=task == 0, config=config, checkpoint_dir=str(tmp_path) if task == 0 else None,
            hooks=[tf.train.StopAtStepHook(last_step=60)], save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None,
        ) as sess:  # fmt: skip
            while not sess.should_stop():
                losses[task] = sess.run([loss, train], {x: X[task::2], y: Y[task::2]})[0]

    in_threads(work, 2)
    assert losses[0] < 0.01 and losses[1] < 0.01
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("global_step") >= 60
    np.testing.assert_allclose(reader.get_tensor("w"), [[3.0]], atol=0.3)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnhandledThreadExceptionWarning"
)  # the queue runner hears that its session has closed
def test_synchronous_training_averages_the_gradients_of_all_workers(cluster):
    tasks = cluster(ps=1, worker=2)
    steps, seen = 5, {}
    # A worker that is a whole step ahead may take the other's token; see the test after this one.
    abreast = threading.Barrier(2)

    def work(task):
        x, y, w, b, loss, step = model(tasks.spec, task)
        with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=tasks.spec)):
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.2), replicas_to_aggregate=2, total_num_replicas=2
            )
            train = optimizer.minimize(loss, global_step=step)
        hook = optimizer.make_session_run_hook(is_chief=task == 0, num_tokens=0)
        with tf.train.MonitoredTrainingSession(
            master=tasks.target("worker", task), is_chief=task == 0, hooks=[hook, tf.train.StopAtStepHook(last_step=steps)],
            log_step_count_steps=None, stop_grace_period_secs=1,
        ) as sess:  # fmt: skip
            while not sess.should_stop():
                seen[task] = sess.run([step, train, w, b], {x: X[task::2], y: Y[task::2]})
                with contextlib.suppress(threading.BrokenBarrierError):  # the other has stopped
                    abreast.wait(timeout=10)
        abreast.abort()

    in_threads(work, 2)
    with tf.Graph().as_default():
        _, _, w, b, _, step = model(tasks.spec, 0)
        with tf.Session(tasks.target("worker", 0)) as sess:
            got_w, got_b, got_step = sess.run([w, b, step])
    assert got_step >= steps
    plain_w, plain_b = np.zeros([1, 1]), np.zeros([1])
    for _ in range(int(got_step)):
        error = X.dot(plain_w) + plain_b - Y
        plain_w, plain_b = plain_w - 0.2 * 2 * X.T.dot(error) / 8, plain_b - 0.2 * 2 * error.mean(0)
    np.testing.assert_allclose(got_w, plain_w, rtol=1e-4)
    np.testing.assert_allclose(got_b, plain_b, rtol=1e-4)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_is_ahead_takes_the_tokens_of_the_other(server):
    """As in TensorFlow, whose tokens have no owner: then its gradient counts twice."""
    w, x = tf.get_variable("w", initializer=0.0), tf.placeholder(tf.float32, [])
    step, seen = tf.train.get_or_create_global_step(), []
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=2, total_num_replicas=2
    )
    train = optimizer.minimize(w * x, global_step=step)
    hand_over = [op for op in tf.get_default_graph().get_operations() if "AccumulatorApplyGradient" in op.type]
    hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=0)
    with tf.train.MonitoredTrainingSession(
        server.target, hooks=[hook], log_step_count_steps=None, stop_grace_period_secs=1
    ) as sess:
        # The other has handed over its gradient, and not come yet for its token.
        sess.run_step_fn(lambda step_context: step_context.session.run(hand_over, {x: -100.0}))
        for _ in range(3):
            sess.run(train, {x: -1.0})
            seen.append(sess.run_step_fn(lambda step_context: step_context.session.run([step, w])))
    assert seen == [[1, 50.5], [1, 50.5], [2, 51.5]]


def test_a_worker_waits_for_the_chief(cluster):
    tasks = cluster(worker=1)
    order = []

    def work(task):
        v = tf.get_variable("v", initializer=4.0)
        if task == 1:
            creator = tf.train.WorkerSessionCreator(master=tasks.target("worker"), max_wait_secs=60)
            scaffold_waits = tf.train.SessionManager(
                ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.1
            )
            with scaffold_waits.wait_for_session(tasks.target("worker"), max_wait_secs=60) as sess:
                order.append(sess.run(v))
            with tf.train.MonitoredSession(session_creator=creator) as sess:
                order.append(sess.run(v))
        else:
            order.append("chief")
            with tf.train.MonitoredSession(
                session_creator=tf.train.ChiefSessionCreator(master=tasks.target("worker"))
            ) as sess:
                sess.run(v)

    in_threads(work, 2)
    assert sorted(order, key=str) == [4.0, 4.0, "chief"]


def test_two_clients_and_a_queue_on_a_third_task(cluster):
    tasks = cluster(ps=1, worker=2)

    def work(task):
        with tf.device("/job:ps"):
            queue = tf.FIFOQueue(100, tf.int32, shapes=[[]], shared_name="numbers")
        with tf.Session(tasks.target("worker", task)) as sess:
            if task == 0:
                number = tf.placeholder(tf.int32, [])
                put = queue.enqueue(number)
                for i in range(20):
                    sess.run(put, {number: i})
                sess.run(queue.close())
            else:
                taken, got = queue.dequeue(), []
                while True:
                    try:
                        got.append(int(sess.run(taken)))
                    except tf.errors.OutOfRangeError:
                        break
                assert got == list(range(20))

    in_threads(work, 2)


def test_training_goes_on_from_the_checkpoint_when_a_parameter_server_is_restarted(cluster, tmp_path):
    tasks = cluster(ps=1, worker=1)
    x, y, _, _, loss, step = model(tasks.spec, 0)
    train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=step)
    seen = []
    with tf.train.MonitoredTrainingSession(
        master=tasks.target("worker"), checkpoint_dir=str(tmp_path), save_checkpoint_steps=2, save_summaries_steps=None,
        save_summaries_secs=None, log_step_count_steps=None, hooks=[tf.train.StopAtStepHook(last_step=8)],
    ) as sess:  # fmt: skip
        while not sess.should_stop():
            seen.append(int(sess.run([step, train], {x: X, y: Y})[0]))
            if len(seen) == 5:
                tasks.stop("ps", 0)
                tasks.servers["ps", 0] = tf.train.Server(tasks.spec, "ps", 0)
    assert seen[:5] == [0, 1, 2, 3, 4]
    assert seen[5] in (2, 3, 4) and seen[-1] == 7  # back at the last checkpoint, then on to the end
