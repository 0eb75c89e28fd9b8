"""Children made by forking run sessions, whatever the parent's threads were doing."""

import os
import subprocess
import sys
import textwrap

PARENT = """
import multiprocessing
import os
import sys
import threading
import time

import numpy as np

import everflow as tf

x = tf.placeholder(tf.float32, [None, None])
product = tf.reduce_sum(tf.matmul(x, x))


def products(session):
    return [float(session.run(product, {x: np.full((n, n), 0.5)})) for n in (3, 64, 300, 700) for _ in range(3)]


def in_child(function):
    with_pipe, mine = multiprocessing.get_context("fork").Pipe(False)

    def run():
        mine.send(function())

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    found = with_pipe.recv() if with_pipe.poll(30) else "the child hangs"
    child.kill()
    child.join()
    return found


session = tf.Session()
expected = products(session)
"""


def run(program):
    """What a program prints that goes on after `PARENT`, with several threads for kernels."""
    source = PARENT + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=120, env=_several_threads()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def _several_threads():
    return {**os.environ, "OMP_NUM_THREADS": "2"}


def test_a_child_runs_its_parents_session_and_one_of_its_own():
    assert run("""
        def own():
            with tf.Graph().as_default(), tf.Session() as other:
                a = tf.placeholder(tf.float32, [None, None])
                return float(other.run(tf.reduce_sum(tf.matmul(a, a)), {a: np.ones((500, 500))}))

        print(in_child(lambda: products(session)) == expected)
        print(in_child(own))
        print(products(session) == expected)
    """) == ["True", "125000000.0", "True"]


def test_a_plain_fork():
    assert run("""
        sys.stdout.flush()
        if os.fork() == 0:
            print(products(session) == expected, flush=True)
            os._exit(0)
        os.wait()
    """) == ["True"]


def test_datasets_go_on_in_the_child():
    assert run("""
        dataset = tf.data.Dataset.range(100).map(lambda v: 2 * v, num_parallel_calls=4).prefetch(4)
        element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        print(session.run(element))
        print(in_child(lambda: [int(session.run(element)) for _ in range(3)]))
        print(session.run(element))
    """) == ["0", "[2, 4, 6]", "2"]


def test_queue_runners_can_be_started_in_the_child():
    assert run("""
        queue = tf.FIFOQueue(4, tf.float32, shapes=[[]])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 3))
        taken = queue.dequeue()
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        while session.run(queue.size()) < 4:
            time.sleep(0.01)
        time.sleep(0.2)  # all of them wait now

        def child():
            own = tf.train.Coordinator()
            started = tf.train.start_queue_runners(session, own)
            found = [float(session.run(taken, options=tf.RunOptions(timeout_in_ms=10_000))) for _ in range(20)]
            own.request_stop()
            own.join(started, stop_grace_period_secs=10)
            return found == [1.0] * 20 and len(started) == 4

        print(in_child(child))
        print(session.run(taken))
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
    """) == ["True", "1.0"]


def test_locks_that_other_threads_held_are_free_in_the_child():
    assert run("""
        start, go_on = threading.Event(), threading.Event()

        def generator():
            start.set()
            go_on.wait(60)
            yield 1

        section = tf.CriticalSection(name="section")
        element = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.from_generator(generator, tf.int64)).get_next()
        entered = section.execute(lambda: tf.identity(element))
        plain = section.execute(lambda: tf.constant(5.0) + 0.0)
        thread = threading.Thread(target=session.run, args=(entered,))
        thread.start()
        start.wait(60)
        print(in_child(lambda: float(session.run(plain, options=tf.RunOptions(timeout_in_ms=10_000)))))
        go_on.set()
        thread.join()
        print(session.run(plain))
    """) == ["5.0", "5.0"]


def test_limited_runs_of_the_parent_are_none_of_the_childs():
    assert run("""
        options = tf.RunOptions(timeout_in_ms=10_000)
        one = tf.constant(1.0) + 0.0
        print(session.run(one, options=options), in_child(lambda: float(session.run(one, options=options))))
    """) == ["1.0 1.0"]


def test_a_child_runs_machine_code_of_its_parent_and_compiles_its_own():
    assert run("""
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = 1
        compiled = tf.Session(config=config)
        y = tf.placeholder(tf.float32, [4])
        z = tf.sqrt(y * 4.0) + 1.0
        before = compiled.run(z, {y: np.ones(4)}).tolist()
        own = tf.sqrt(y * 9.0) - float(os.getpid())  # no cache has it

        def both():
            return compiled.run(z, {y: np.ones(4)}).tolist(), compiled.run(own, {y: np.ones(4)}).tolist()

        print(in_child(both) == (before, [3.0 - os.getpid()] * 4), both()[0] == before)
        print("_Native" in compiled.explain(z, [y]))
    """) == ["True True", "True"]


def test_a_child_of_a_parent_that_waits_for_the_compiler():
    """The plan's code is being made in the background when the process forks; both come to it."""
    assert run("""
        from everflow.runtime.plan.native import tiers

        tiers.LONG_ENOUGH = 0.0
        tiers.LONGER = 0.0
        y = tf.placeholder(tf.float32, [4])
        z = tf.sqrt(y * 4.0) + float(os.getpid())  # no cache has it

        def on(runs=tiers.OFTEN_ENOUGH):
            found = [session.run(z, {y: np.ones(4)}).tolist() for _ in range(runs)]
            return found[-1], "_Native" in session.explain(z, [y])

        expected, _ = on(tiers.OFTEN_ENOUGH // 2)
        print(in_child(on) == (expected, True), on() == (expected, True))
    """) == ["True True"]
