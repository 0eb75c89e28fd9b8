"""Programs that end while their other threads are in runs."""

import os
import subprocess
import sys
import textwrap


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def test_threads_in_kernels_waiting_threads_and_slow_functions_let_it_end():
    done = run(
        """
        import sys, threading, time
        import everflow as tf
        x = tf.constant([1.0] * 200000)
        y = tf.while_loop(lambda i, v: i < 20, lambda i, v: (i + 1, tf.sin(v) + tf.cos(v)), [0, x])[1]
        slow = tf.py_func(lambda: time.sleep(3600) or 1.0, [], tf.float32)
        queue = tf.FIFOQueue(10, tf.float32)
        full = queue.enqueue(y[0] + 1.0)
        sess = tf.Session()
        sess.run(y.op)

        def for_ever():
            while True:
                sess.run(y.op)

        def wait():
            while True:
                sess.run(full)

        for target in (for_ever, for_ever, wait, lambda: sess.run(slow)):
            threading.Thread(target=target, daemon=True).start()
        time.sleep(0.5)
        print("over")
        sys.exit(3)
        """,
        EVERFLOW_NATIVE="off",
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "over\n", "")
