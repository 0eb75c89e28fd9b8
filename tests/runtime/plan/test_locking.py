"""Threads that write the same variables through one session: what excludes others loses nothing."""

import sys
import threading

import pytest

import everflow as tf

THREADS, RUNS = 8, 150


@pytest.fixture(autouse=True)
def hasty_threads():
    """Let threads take turns so often that an update in two steps is soon interrupted."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.fixture
def session(graph):
    with tf.Session(graph=graph) as session:
        yield session


def from_threads(session, fetch) -> list:
    results: list = []
    threads = [
        threading.Thread(target=lambda: results.extend(session.run(fetch) for _ in range(RUNS))) for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("use_resource", [False, True])
def test_no_number_is_counted_twice(session, use_resource):
    counter = tf.get_variable("counter", [], tf.int64, initializer=tf.zeros_initializer(), use_resource=use_resource)
    session.run(counter.initializer)
    assert sorted(from_threads(session, counter.count_up_to(10**6))) == list(range(THREADS * RUNS))


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: tf.train.MomentumOptimizer(1.0, 0.0, use_locking=True),
        lambda: tf.train.GradientDescentOptimizer(1.0, use_locking=True),
        lambda: tf.train.RMSPropOptimizer(1.0, decay=0.0, epsilon=0.0, use_locking=True),
    ],
)
def test_an_optimizer_with_locks_loses_no_step(session, optimizer, use_resource):
    weights = tf.get_variable("weights", [1000], initializer=tf.zeros_initializer(), use_resource=use_resource)
    train = optimizer().minimize(tf.reduce_sum(weights))
    session.run(tf.global_variables_initializer())
    from_threads(session, train)
    assert session.run(weights).tolist() == [-float(THREADS * RUNS)] * 1000


def test_a_generator_gives_no_number_twice(session):
    generator = tf.random.experimental.Generator.from_seed(1)
    session.run(tf.global_variables_initializer())
    numbers = from_threads(session, generator.uniform_full_int([], tf.uint64))
    assert len(set(numbers)) == THREADS * RUNS
