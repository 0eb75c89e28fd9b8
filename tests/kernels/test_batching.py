"""Batches across runs, which threads bring together."""

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

LONG = 10_000_000


def at_once(session, fetches, feeds):
    """What several threads get that run at the same time."""
    results = [None] * len(feeds)

    def run(i):
        results[i] = session.run(fetches, feeds[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def rows():
    return tf.placeholder(tf.float32, [None, 2])


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _batch(rows, most=3, timeout=LONG, **options):
    return raw.Batch(
        in_tensors=[rows],
        num_batch_threads=1,
        max_batch_size=most,
        batch_timeout_micros=timeout,
        grad_timeout_micros=0,
        **options,
    )


def test_one_run_has_the_batch_and_each_gets_its_part_back(session, rows):
    (batched,), index, number = _batch(rows)
    parts = raw.Unbatch(batched_tensor=batched * 2.0, batch_index=index, id=number, timeout_micros=LONG)
    feeds = [{rows: [[1.0, 2.0]]}, {rows: [[3.0, 4.0], [5.0, 6.0]]}]
    results = at_once(session, [parts, index], feeds)
    assert [r[0].tolist() for r in results] == [[[2.0, 4.0]], [[6.0, 8.0], [10.0, 12.0]]]
    assert sorted(len(r[1]) for r in results) == [0, 2]


def test_gradients_come_together(session, rows):
    (batched,), index, number = _batch(rows)
    together = raw.UnbatchGrad(original_input=batched, batch_index=index, grad=rows * 10.0, id=number)
    results = at_once(session, together, [{rows: [[1.0, 2.0]]}, {rows: [[3.0, 4.0], [5.0, 6.0]]}])
    assert sorted(len(r) for r in results) == [0, 3]
    assert sorted(np.concatenate(results).tolist()) == [[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]


def test_sizes_that_are_allowed(session, rows):
    (batched,), index, _ = _batch(rows, most=8, timeout=0, allowed_batch_sizes=[4, 8])
    values, places = session.run([batched, index], {rows: [[1.0, 2.0]]})
    assert values.tolist() == [[1.0, 2.0]] * 4 and places[:, 1:].tolist() == [[0, 1]]
    for wrong in ([4], [8, 4]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(_batch(rows, most=8, timeout=0, allowed_batch_sizes=wrong), {rows: [[1.0, 2.0]]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than a batch"):
        session.run(batched, {rows: np.ones([9, 2])})


def test_nobody_waits_for_ever(session, rows):
    parts = raw.Unbatch(batched_tensor=rows, batch_index=np.zeros([0, 3], np.int64), id=np.int64(3), timeout_micros=1)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(parts, {rows: [[1.0, 2.0]]})


def test_functions_of_batches(session, rows):
    factor = tf.constant(3.0)

    @tf.nondifferentiable_batch_function(1, 3, LONG)
    def triple(a):
        return a * factor, tf.reduce_sum(a, 1) + 0.0 * tf.cast(tf.shape(a)[0], tf.float32)

    results = at_once(session, triple(rows), [{rows: [[1.0, 2.0]]}, {rows: [[3.0, 4.0], [5.0, 6.0]]}])
    assert [[t.tolist() for t in r] for r in results] == [
        [[[3.0, 6.0]], [3.0]],
        [[[9.0, 12.0], [15.0, 18.0]], [7.0, 11.0]],
    ]


def test_functions_keep_rows(session, rows):
    @tf.nondifferentiable_batch_function(1, 1, 0)
    def total(a):
        return tf.reduce_sum(a)

    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(total(rows), {rows: [[1.0, 2.0]]})
