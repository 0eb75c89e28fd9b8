"""Operators and functions on variables of both kinds: how they are read, fetched and fed."""

import numpy as np
import tensorflow as tf


def run(out):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    r = tf.get_variable("r", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    ops = [
        v + 1.0,
        1.0 + v,
        v - 1.0,
        2.0 - v,
        v * v,
        v / 2.0,
        2.0 / v,
        v // 2.0,
        v % 2.0,
        v**2.0,
        -v,
        abs(v),
        v > 1.0,
        v <= 2.0,
        v @ v,
        v[0],
        v[:, 1:],
        v[..., 0],
    ]
    ops += [
        r + 1.0,
        1.0 + r,
        r - 1.0,
        2.0 - r,
        r * r,
        r / 2.0,
        2.0 / r,
        r // 2.0,
        r % 2.0,
        r**2.0,
        -r,
        abs(r),
        r > 1.0,
        r <= 2.0,
        r @ r,
        r[0],
        r[:, 1:],
        r[..., 0],
    ]
    out("names", [o.name for o in ops])
    l = tf.Variable([True, False], name="l")
    ops2 = [l & [True, True], l | False, l ^ True, ~l]
    u = [
        tf.identity(v),
        tf.identity(r),
        tf.convert_to_tensor(r),
        tf.stack([v, r]),
        tf.concat([v, r], 0),
        tf.add_n([v, r]),
        tf.reduce_sum(r),
        tf.cast(r, tf.int32),
        tf.cast(v, tf.float32),
        tf.shape(v),
        tf.transpose(r),
        tf.matmul(v, r),
        tf.group(v, r),
        tf.no_op(),
    ]
    out("u", [o.name for o in u])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out("vals", s.run(ops + ops2))
        out("u2", s.run(u[:-2]))
        out("fetch", s.run({"a": v, "b": [r, v.op, r.initializer]}))
        out.raises("feed var", lambda: s.run(v * 1.0, {v: np.zeros((2, 2))}))
        out("feed read", s.run(v * 1.0, {v.value(): np.zeros((2, 2))}))
        out("feed ref", s.run(tf.identity(v._ref()), {v._ref(): np.ones((2, 2))}))
    out("str", [str(v), repr(r), str(r.assign_add(r)).split(" ")[1]])
    out.graph()
