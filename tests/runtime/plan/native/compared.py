"""Loops as machine code beside the same loops by kernels."""

import numpy as np

import everflow as tf
from everflow.runtime.plan.program import LOOP

RANDOM = np.random.RandomState(0)


def session(native: bool = True) -> tf.Session:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1 if native else -1
    return tf.Session(config=config)


def native_loops(sess: tf.Session, fetches) -> list[bool]:
    """For each loop that runs for some fetches and is in no other, whether it is machine code."""
    sess.run(fetches)
    plan = sess._executor.prepare(tf.contrib.framework.nest.flatten(fetches), []).plan
    return [node.value is not None for node in plan._native[1].top if node.type == LOOP] if plan._native else []


def check(fetches, loops: int, rtol: float = 1e-5) -> None:
    """Compare machine code with kernels, over some steps; so many loops must be machine code."""
    shown = []
    for native in (False, True):
        with session(native) as sess:
            sess.run(tf.global_variables_initializer())
            if native:
                assert native_loops(sess, fetches) == [True] * loops
            else:
                sess.run(fetches)
            shown.append([sess.run(fetches) for _ in range(3)])
    for expected, found in zip(*shown, strict=True):
        for a, b in zip(
            tf.contrib.framework.nest.flatten(expected), tf.contrib.framework.nest.flatten(found), strict=True
        ):
            if a is not None:
                np.testing.assert_allclose(b, a, rtol, 1e-6)


def constant(*shape: int) -> tf.Tensor:
    return tf.constant(RANDOM.randn(*shape).astype("f"))
