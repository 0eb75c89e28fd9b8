"""What one `Session.run` costs by itself: scalars, a chain of small ops, a loop, and making the plan.

python benchmarks/session_run.py
"""

from __future__ import annotations

import time

import numpy as np

import everflow as tf
from everflow.framework import raw_ops as raw


def micros(call, seconds: float = 0.5) -> float:
    """The median time of a call, in microseconds."""
    for _ in range(20):
        call()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def scalars(sess):
    a, b, c = (tf.placeholder(tf.float32) for _ in range(3))
    y = raw.Mul(x=raw.AddV2(x=raw.Mul(x=a, y=b), y=c), y=tf.constant(2.0))
    feed = {a: 1.0, b: 2.0, c: 3.0}
    return lambda: sess.run(y, feed)


def constant(sess):
    c = tf.constant(1.0)
    return lambda: sess.run(c)


def chain(sess, length=100):
    x = tf.placeholder(tf.float32, [8])
    y = x
    for _ in range(length):
        y = raw.Tanh(x=y)
    feed = {x: np.ones(8, np.float32)}
    return lambda: sess.run(y, feed)


def callable_scalars(sess):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    call = sess.make_callable(raw.Mul(x=a, y=b), [a, b])
    return lambda: call(1.0, 2.0)


def variables(sess, count=50):
    pairs = []
    for _ in range(count):
        v = raw.VariableV2(shape=[8], dtype=tf.float32)
        pairs.append(
            (
                raw.Assign(ref=v, value=tf.constant(np.zeros(8, np.float32))).op,
                raw.AssignAdd(ref=v, value=tf.constant([1.0] * 8)).op,
            )
        )
    sess.run([init for init, _ in pairs])
    updates = [update for _, update in pairs]
    return lambda: sess.run(updates)


def main():
    for make in (constant, scalars, callable_scalars, chain, variables):
        with tf.Graph().as_default(), tf.Session() as sess:
            call = make(sess)
            start = time.perf_counter()
            call()
            first = time.perf_counter() - start
            print(f"{make.__name__:18} {micros(call):10.1f} us   first {1e3 * first:8.1f} ms")


if __name__ == "__main__":
    main()
